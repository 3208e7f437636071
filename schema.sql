-- The file format of tms, version 1. This text is the one definition of it:
--     sqlite3 memory.db < schema.sql
-- makes an empty file that tms opens.
--
-- The record (every table but consumer, setting and cache_*) is only ever added to. One transaction is one commit; its
-- rows carry its revision, and its row in `commits`, written last, closes that revision for good.
-- Two things alone take away: a content can be redacted, and a record pruned into a new file.
-- Sources, facts and justifications share one sequence of integer keys, which only grows.
--
-- Each commit has a digest, so that a change to any earlier row shows: BLAKE2b, of 32 bytes, over lines of
-- UTF-8 that each end in a newline. A line is a JSON array without spaces, in which only quotes, backslashes
-- and characters below U+0020 are escaped (as \" \\ \b \t \n \f \r, else \u and four digits in lower case), and
-- blobs are in lower hexadecimal. First ["before", the digest of the commit before or null]; then the rows
-- of the commit, each with the name of its table and these columns, in the order of their keys:
--     scope          scope, name, revision (the shared one, of revision 0, in commit 1)
--     node           node, scope, kind, id, role, revision
--     content        node, version, revision, seal
--     justification  justification, scope, name, digest, rule, revision
--     switch         target, revision, state
--     validity       target, revision, valid_from, valid_to
--     transition     revision, node, change, support
--     redaction      node, revision
--     concern        scope, revision, believed
--     commits        revision, at, micro, op, reason, by, last_key, believed, scope
-- Nodes and justifications are of a commit by their keys: above the last_key of the commit before, up to its
-- own. Premises and conclusions are in the digest of their justification. docs/digest.md has an example.
--
-- (Files that tms made also hold a table _sqlite_migrations, which sqlite-utils keeps for itself.)

PRAGMA application_id = 1414353713; -- "TMS1"
PRAGMA user_version = 1;

-- ---------------------------------------------------------------- the record

-- Who owns a node. Scope 0, named '', is the shared one: all see it. What another scope owns, only
-- that scope sees.
CREATE TABLE scope (
    scope INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL -- that first wrote to it; 0 for the shared one
) STRICT;
CREATE INDEX scope_by_revision ON scope (revision);
INSERT INTO scope (scope, name, revision) VALUES (0, '', 0);

-- One row a commit.
CREATE TABLE commits (
    revision INTEGER PRIMARY KEY, -- 1, 2, 3 …
    at INTEGER NOT NULL           -- when, in whole milliseconds since 1970 UTC; never goes back
        CHECK (at BETWEEN -62135596800000 AND 253402300799999), -- years 1 to 9999
    op TEXT NOT NULL,             -- the verb
    reason TEXT,
    "by" TEXT,
    last_key INTEGER NOT NULL,    -- the largest key given out so far
    believed INTEGER NOT NULL,    -- how many facts are IN after it
    micro INTEGER NOT NULL        -- the microseconds beyond `at`: windows are settled to these
        CHECK (micro BETWEEN 0 AND 999),
    scope INTEGER NOT NULL REFERENCES scope (scope), -- whose writer made it
    digest BLOB NOT NULL          -- over the digest before it and the rows of the commit, see above
        CHECK (length(digest) = 32)
) STRICT;

-- Which scopes a commit is of: that of its writer, and those in which it changed a belief or passed a
-- bound of a window. Only these see it.
CREATE TABLE concern (
    scope INTEGER NOT NULL REFERENCES scope (scope),
    revision INTEGER NOT NULL,
    believed INTEGER NOT NULL, -- how many facts of that scope are IN after it
    PRIMARY KEY (scope, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX concern_by_revision ON concern (revision);

-- A source or a fact. Its ref is kind:id.
CREATE TABLE node (
    node INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL REFERENCES scope (scope),
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('source', 'fact')),
    revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX node_by_ref ON node (scope, kind, id);

-- The content versions of a node, as canonical JSON; NULL where it was redacted. No row: it has none.
-- The seal of a content is BLAKE2b, of 32 bytes, over its UTF-8 with the mark as key. It stays when both are
-- gone, for the digests of commits; without the mark nobody can try which content it was of.
CREATE TABLE content (
    node INTEGER NOT NULL REFERENCES node (node),
    version INTEGER NOT NULL, -- 1, 2, 3 … of this node
    revision INTEGER NOT NULL,
    content TEXT,
    mark BLOB NOT NULL, -- 16 random bytes; the seal instead where the content was redacted
    PRIMARY KEY (node, version),
    CHECK (length(mark) = CASE WHEN content IS NULL THEN 32 ELSE 16 END)
) STRICT, WITHOUT ROWID;
CREATE INDEX content_by_revision ON content (revision, node);

-- A justification: all its premises together derive each of its conclusions. Its ref is
-- justification:<name>, or justification:<digest in hex> where it was given no name. The digest is
-- over premises, conclusions, rule and window: the same justification twice is one. Its conclusions
-- are of its own scope, its premises of that or shared.
CREATE TABLE justification (
    justification INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL REFERENCES scope (scope),
    name TEXT,
    digest BLOB NOT NULL,
    rule TEXT,
    revision INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX justification_by_digest ON justification (scope, digest);
CREATE UNIQUE INDEX justification_by_name ON justification (scope, name) WHERE name IS NOT NULL;

-- Which nodes a justification needs.
CREATE TABLE premise (
    justification INTEGER NOT NULL REFERENCES justification (justification),
    node INTEGER NOT NULL REFERENCES node (node),
    PRIMARY KEY (justification, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX premise_by_node ON premise (node, justification);

-- Which facts a justification concludes.
CREATE TABLE derive (
    justification INTEGER NOT NULL REFERENCES justification (justification),
    node INTEGER NOT NULL REFERENCES node (node),
    PRIMARY KEY (justification, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX derive_by_node ON derive (node, justification);

-- Each turn of a switch. The target is the key of a source, a fact or a justification; all are
-- on until the first turn.
CREATE TABLE switch (
    target INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (0, 1)), -- 0 = retracted, 1 = unretracted
    PRIMARY KEY (target, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX switch_by_revision ON switch (revision, target, state);

-- Valid time: when a source, a fact or a justification holds in the world, from valid_from on and no
-- longer at valid_to, in microseconds since 1970 UTC; NULL is open. The newest row of a target
-- counts; without a row it holds always. What does not hold supports as little as what is off.
CREATE TABLE validity (
    target INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    valid_from INTEGER CHECK (valid_from BETWEEN -62135596800000000 AND 253402300799999999),
    valid_to INTEGER CHECK (valid_to BETWEEN -62135596800000000 AND 253402300799999999),
    PRIMARY KEY (target, revision),
    CHECK (valid_from < valid_to)
) STRICT, WITHOUT ROWID;
CREATE INDEX validity_by_revision ON validity (revision, target);
CREATE INDEX validity_by_start ON validity (valid_from, target) WHERE valid_from IS NOT NULL;
CREATE INDEX validity_by_end ON validity (valid_to, target) WHERE valid_to IS NOT NULL;

-- Each change of belief. A node without a row is OUT.
CREATE TABLE transition (
    revision INTEGER NOT NULL,
    node INTEGER NOT NULL REFERENCES node (node),
    change INTEGER NOT NULL CHECK (change IN (0, 1, 2)), -- 0 = went OUT, 1 = came IN, 2 = stayed IN on another support
    support INTEGER REFERENCES justification (justification), -- what an IN fact rests on
    PRIMARY KEY (revision, node)
) STRICT, WITHOUT ROWID;
CREATE INDEX transition_by_node ON transition (node, revision, change, support);

-- Which nodes had all their content versions so far removed for good, in which commit.
CREATE TABLE redaction (
    node INTEGER NOT NULL REFERENCES node (node),
    revision INTEGER NOT NULL,
    PRIMARY KEY (node, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX redaction_by_revision ON redaction (revision, node);

-- One row for each time that the record was pruned: copied into a new file without what came before
-- a baseline commit, but for what is told of later commits: how all stood at the baseline, and
-- the commits in which that was recorded. The newest row counts. A file is made with its rows.
CREATE TABLE pruned (
    pruning INTEGER PRIMARY KEY, -- 1, 2, 3 …
    baseline INTEGER NOT NULL,   -- the revision from which on the file can be asked
    at INTEGER NOT NULL          -- when it was pruned, in milliseconds since 1970 UTC
        CHECK (at BETWEEN -62135596800000 AND 253402300799999),
    reason TEXT,
    "by" TEXT,
    commits INTEGER NOT NULL,    -- how many rows of each were left out
    contents INTEGER NOT NULL,
    switches INTEGER NOT NULL,
    windows INTEGER NOT NULL,
    transitions INTEGER NOT NULL,
    digest BLOB NOT NULL         -- over lines, as for a commit: all rows kept of commits up to the
        CHECK (length(digest) = 32) -- baseline, but all save contents by revision first, if they have one;
                                 -- their rows in commits, with digests; those of earlier prunings,
                                 -- with digests; and this row without
) STRICT;
-- ---------------------------------------------------------------- positions

-- How far each reader of the commits has come. It is no part of what is believed; its rows, and those
-- of setting, are changed and removed, and that is no commit.
CREATE TABLE consumer (
    scope TEXT NOT NULL, -- the name of the scope that it reads as
    name TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0), -- the last commit that it acknowledged; 0 = none
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

-- How the file wants to be opened. A row 'strict' of 1: never without saying as which scope.
CREATE TABLE setting (
    name TEXT PRIMARY KEY CHECK (name IN ('strict')),
    value INTEGER NOT NULL CHECK (value IN (0, 1))
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- what can be rebuilt (tms rebuild)

-- The labels at the head: one row for each node that is IN.
CREATE TABLE cache_label (
    node INTEGER PRIMARY KEY,
    rank INTEGER NOT NULL, -- a source 0, a fact above every premise of its support
    support INTEGER        -- the justification a fact rests on; NULL for a source
) STRICT;

-- What supports nothing at the head: it is switched off, or outside its window.
CREATE TABLE cache_off (
    target INTEGER PRIMARY KEY
) STRICT;

-- ---------------------------------------------------------------- guards
-- A BEFORE INSERT guard is what stops REPLACE: SQLite runs no delete trigger for the rows that a
-- REPLACE removes unless recursive_triggers is on, which the sqlite3 shell does not do.

CREATE TRIGGER scope_insert BEFORE INSERT ON scope
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR EXISTS (SELECT 1 FROM scope WHERE scope >= NEW.scope OR name = NEW.name)
BEGIN SELECT RAISE (ABORT, 'tms: a scope is new in an open commit, and the record is append-only'); END;

CREATE TRIGGER commits_insert BEFORE INSERT ON commits
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR 1000 * NEW.at + NEW.micro
        < (SELECT 1000 * at + micro FROM commits ORDER BY revision DESC LIMIT 1)
    OR NEW.last_key IS NOT max(
        ifnull((SELECT max(node) FROM node), 0),
        ifnull((SELECT max(justification) FROM justification), 0),
        ifnull((SELECT last_key FROM commits ORDER BY revision DESC LIMIT 1), 0)
    )
BEGIN SELECT RAISE (ABORT, 'tms: a commit follows the last one, and the record is append-only'); END;

CREATE TRIGGER concern_insert BEFORE INSERT ON concern
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR EXISTS (SELECT 1 FROM concern WHERE scope = NEW.scope AND revision = NEW.revision)
BEGIN SELECT RAISE (ABORT, 'tms: what a commit is of is told when it is made, the record is append-only'); END;

CREATE TRIGGER node_insert BEFORE INSERT ON node
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR NEW.node <= ifnull((SELECT last_key FROM commits ORDER BY revision DESC LIMIT 1), 0)
    OR EXISTS (SELECT 1 FROM node WHERE scope = NEW.scope AND kind = NEW.kind AND id = NEW.id)
BEGIN SELECT RAISE (ABORT, 'tms: a node is new in an open commit, and the record is append-only'); END;

CREATE TRIGGER content_insert BEFORE INSERT ON content
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR NEW.version IS NOT (SELECT ifnull(max(version), 0) + 1 FROM content WHERE node = NEW.node)
    OR NEW.content IS NULL
BEGIN SELECT RAISE (ABORT, 'tms: a content version is new in an open commit, and the record is append-only'); END;

CREATE TRIGGER justification_insert BEFORE INSERT ON justification
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR NEW.justification <= ifnull((SELECT last_key FROM commits ORDER BY revision DESC LIMIT 1), 0)
    OR EXISTS (SELECT 1 FROM justification WHERE scope = NEW.scope AND digest = NEW.digest)
    OR (NEW.name IS NOT NULL AND EXISTS (SELECT 1 FROM justification WHERE scope = NEW.scope AND name = NEW.name))
BEGIN SELECT RAISE (ABORT, 'tms: a justification is new in an open commit, and the record is append-only'); END;

CREATE TRIGGER premise_insert BEFORE INSERT ON premise
WHEN NEW.justification <= ifnull((SELECT last_key FROM commits ORDER BY revision DESC LIMIT 1), 0)
BEGIN SELECT RAISE (ABORT, 'tms: a closed commit takes no more premises, and the record is append-only'); END;

CREATE TRIGGER derive_insert BEFORE INSERT ON derive
WHEN NEW.justification <= ifnull((SELECT last_key FROM commits ORDER BY revision DESC LIMIT 1), 0)
BEGIN SELECT RAISE (ABORT, 'tms: a closed commit takes no more conclusions, and the record is append-only'); END;

CREATE TRIGGER switch_insert BEFORE INSERT ON switch
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR NOT (EXISTS (SELECT 1 FROM node WHERE node = NEW.target)
        OR EXISTS (SELECT 1 FROM justification WHERE justification = NEW.target))
BEGIN SELECT RAISE (ABORT, 'tms: a switch turns in an open commit, and the record is append-only'); END;

CREATE TRIGGER validity_insert BEFORE INSERT ON validity
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR NOT (EXISTS (SELECT 1 FROM node WHERE node = NEW.target)
        OR EXISTS (SELECT 1 FROM justification WHERE justification = NEW.target))
BEGIN SELECT RAISE (ABORT, 'tms: a window is new in an open commit, and the record is append-only'); END;

CREATE TRIGGER transition_insert BEFORE INSERT ON transition
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
BEGIN SELECT RAISE (ABORT, 'tms: a belief changes in an open commit, and the record is append-only'); END;

CREATE TRIGGER redaction_insert BEFORE INSERT ON redaction
WHEN NEW.revision IS NOT (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    OR NOT EXISTS (SELECT 1 FROM node WHERE node = NEW.node)
    OR EXISTS (SELECT 1 FROM redaction WHERE node = NEW.node AND revision = NEW.revision)
BEGIN SELECT RAISE (ABORT, 'tms: a node is redacted in an open commit, and the record is append-only'); END;

CREATE TRIGGER pruned_insert BEFORE INSERT ON pruned
BEGIN SELECT RAISE (ABORT, 'tms: what is pruned is a new file, and the record is append-only'); END;

-- The one change that is let through: a content of a node that the open commit redacts becomes NULL,
-- and its mark the seal.
CREATE TRIGGER content_update BEFORE UPDATE ON content
WHEN NEW.content IS NOT NULL
    OR OLD.content IS NULL
    OR (NEW.node, NEW.version, NEW.revision) IS NOT (OLD.node, OLD.version, OLD.revision)
    OR NOT EXISTS (
        SELECT 1 FROM redaction
        WHERE node = OLD.node AND revision = (SELECT ifnull(max(revision), 0) + 1 FROM commits)
    )
BEGIN SELECT RAISE (ABORT, 'tms: only what is redacted is changed, the record is append-only'); END;

CREATE TRIGGER scope_update BEFORE UPDATE ON scope BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER commits_update BEFORE UPDATE ON commits BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER concern_update BEFORE UPDATE ON concern BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER node_update BEFORE UPDATE ON node BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER justification_update BEFORE UPDATE ON justification BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER premise_update BEFORE UPDATE ON premise BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER derive_update BEFORE UPDATE ON derive BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER switch_update BEFORE UPDATE ON switch BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER validity_update BEFORE UPDATE ON validity BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER transition_update BEFORE UPDATE ON transition BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER redaction_update BEFORE UPDATE ON redaction BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER pruned_update BEFORE UPDATE ON pruned BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;

CREATE TRIGGER scope_delete BEFORE DELETE ON scope BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER commits_delete BEFORE DELETE ON commits BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER concern_delete BEFORE DELETE ON concern BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER node_delete BEFORE DELETE ON node BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER content_delete BEFORE DELETE ON content BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER justification_delete BEFORE DELETE ON justification BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER premise_delete BEFORE DELETE ON premise BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER derive_delete BEFORE DELETE ON derive BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER switch_delete BEFORE DELETE ON switch BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER validity_delete BEFORE DELETE ON validity BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER transition_delete BEFORE DELETE ON transition BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER redaction_delete BEFORE DELETE ON redaction BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;
CREATE TRIGGER pruned_delete BEFORE DELETE ON pruned BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END;

-- Nobody acknowledges a commit that there is not.
CREATE TRIGGER consumer_insert BEFORE INSERT ON consumer
WHEN NEW.revision > (SELECT ifnull(max(revision), 0) FROM commits)
BEGIN SELECT RAISE (ABORT, 'tms: a position is not ahead of the last commit'); END;

CREATE TRIGGER consumer_update BEFORE UPDATE ON consumer
WHEN NEW.revision > (SELECT ifnull(max(revision), 0) FROM commits)
BEGIN SELECT RAISE (ABORT, 'tms: a position is not ahead of the last commit'); END;

-- ---------------------------------------------------------------- views for people

-- Justifications by the ref they are known by.
CREATE VIEW justifications AS
SELECT justification, 'justification:' || ifnull(name, lower(hex(digest))) AS ref, rule, revision
FROM justification;

-- What is believed now, since which revision and through which justification.
CREATE VIEW believed AS
SELECT n.kind || ':' || n.id AS fact, n.kind, n.id, t.revision AS since, j.ref AS through,
    (SELECT name FROM scope WHERE scope = n.scope) AS scope
FROM node AS n
JOIN transition AS t
    ON t.node = n.node AND t.revision = (SELECT max(revision) FROM transition WHERE node = n.node)
LEFT JOIN justifications AS j ON j.justification = t.support
WHERE n.role = 'fact' AND t.change > 0;

-- Why: each justification of each fact with its premises; `through` marks the one the fact rests
-- on. An axiom has one row, without a premise.
CREATE VIEW why AS
SELECT
    f.kind || ':' || f.id AS fact,
    j.ref AS justification,
    j.rule,
    p.kind || ':' || p.id AS premise,
    ifnull((SELECT change FROM transition WHERE node = p.node ORDER BY revision DESC LIMIT 1), 0) > 0 AS premise_in,
    ifnull((SELECT state FROM switch WHERE target = j.justification ORDER BY revision DESC LIMIT 1), 1) AS switched_on,
    j.justification IS (SELECT support FROM transition WHERE node = f.node ORDER BY revision DESC LIMIT 1) AS through,
    (SELECT name FROM scope WHERE scope = f.scope) AS scope
FROM node AS f
JOIN derive AS d ON d.node = f.node
JOIN justifications AS j ON j.justification = d.justification
LEFT JOIN premise AS e ON e.justification = j.justification
LEFT JOIN node AS p ON p.node = e.node;

-- What each commit did.
CREATE VIEW log AS
SELECT
    c.revision,
    printf('r1:%016d:', c.revision)
        || strftime('%Y-%m-%dT%H:%M:%S', (c.at - ((c.at % 1000) + 1000) % 1000) / 1000, 'unixepoch')
        || printf('.%03dZ', ((c.at % 1000) + 1000) % 1000) AS anchor,
    c.op,
    c.reason,
    c."by",
    (SELECT count(*) FROM transition AS t JOIN node AS n USING (node)
        WHERE t.revision = c.revision AND t.change = 0 AND n.role = 'fact') AS died,
    (SELECT count(*) FROM transition AS t JOIN node AS n USING (node)
        WHERE t.revision = c.revision AND t.change = 1 AND n.role = 'fact') AS revived,
    c.believed,
    (SELECT name FROM scope WHERE scope = c.scope) AS scope
FROM commits AS c
WHERE c.revision >= (SELECT ifnull(max(baseline), 0) FROM pruned);

-- No node has the key 0. Where these rows are missing, the cache was dropped or emptied.
INSERT INTO cache_label (node, rank) VALUES (0, 0);
INSERT INTO cache_off (target) VALUES (0);
