#include "../../Cargo.toml"
int x = y;
