// The EVP interface of OpenSSL, the only used part of libcrypto.
#ifndef LIVERELAY_CCRYPTO_SHIM_H
#define LIVERELAY_CCRYPTO_SHIM_H
#include <openssl/err.h>
#include <openssl/evp.h>
#endif
