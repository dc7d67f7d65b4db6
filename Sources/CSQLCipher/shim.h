// Below the folder of headers on Linux; pkg-config names the folder itself elsewhere.
#if __has_include(<sqlcipher/sqlite3.h>)
#include <sqlcipher/sqlite3.h>
#else
#include <sqlite3.h>
#endif
