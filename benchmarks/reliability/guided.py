"""Fuzz the reader of imports, guided by coverage: ``python -m benchmarks.reliability.guided``.

It needs atheris (``pip install atheris``), and runs until it finds something or ``-runs=N`` inputs
were tried; other arguments are those of libFuzzer, among them a folder of inputs to begin with.
What is looked for is a line that is neither read nor refused with a typed error. No file is
involved, so it tries thousands of inputs a second, where ``--fuzz`` tries fifty whole imports.
"""

import sys

import atheris

with atheris.instrument_imports(include=["tms", "json"]):
    import tms
    from tms.interchange import blocks, commits, objects


def one(data: bytes) -> None:
    """Read an input as the lines of an import."""
    try:
        for group in commits(objects(data.split(b"\n"))):
            for block in blocks(group.rows):
                if block.failure is not None:
                    raise block.failure
    except tms.TMSError:
        return


def main() -> None:
    """Fuzz."""
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
