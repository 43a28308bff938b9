//! What the black-box tests share: building and running the real binaries in a clean environment.
