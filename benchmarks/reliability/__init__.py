"""What is lost when processes are killed, fail, crowd, or are given rubbish: nothing may be."""
