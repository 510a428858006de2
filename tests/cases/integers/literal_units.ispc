// The suffixes k, M and G count in powers of 1024.
//~ run: f() result == 3 * 1024 + 2 * 1048576 + 1073741824
export uniform int64 f() { return 3k + 2M + 1G; }
