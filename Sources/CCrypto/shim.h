// OpenSSL's EVP interface, the only part of libcrypto that is used.
#ifndef LIVERELAY_CCRYPTO_SHIM_H
#define LIVERELAY_CCRYPTO_SHIM_H
#include <openssl/err.h>
#include <openssl/evp.h>
#endif
