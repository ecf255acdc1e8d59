// libcurl functions that Swift can call: libcurl's setters and getters are variadic, and Swift imports no variadic
// function. One function per kind of argument keeps the argument type-checked on both sides.
#ifndef LIVERELAY_CCURL_SHIM_H
#define LIVERELAY_CCURL_SHIM_H
#include <curl/curl.h>
#include <netinet/in.h>
#include <string.h>

static const long liverelay_curl_global_all = CURL_GLOBAL_ALL;
static const long liverelay_curl_digest = (long)CURLAUTH_DIGEST;

static inline CURLcode liverelay_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode liverelay_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode liverelay_curl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode liverelay_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

// The status line of Shoutcast 1 counts as that of HTTP.
static inline CURLcode liverelay_curl_accept_shoutcast(CURL *easy) {
    static char line[] = "ICY 200 OK";
    static struct curl_slist lines = {line, NULL};
    return curl_easy_setopt(easy, CURLOPT_HTTP200ALIASES, &lines);
}

static inline CURLcode liverelay_curl_set_headers(CURL *easy, struct curl_slist *value) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, value);
}

static inline CURLcode liverelay_curl_set_body_callback(CURL *easy, curl_write_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callback);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_WRITEDATA, context) : code;
}

static inline CURLcode liverelay_curl_set_header_callback(CURL *easy, curl_write_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callback);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_HEADERDATA, context) : code;
}

static inline CURLcode liverelay_curl_set_socket_callback(
    CURL *easy, curl_opensocket_callback callback, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context) : code;
}

// The IP address that libcurl is about to connect to, in network byte order: 4 bytes, 16 bytes, or 0 for another
// family. This is C because the structure is longer than its declaration.
static inline size_t liverelay_curl_copy_address(const struct curl_sockaddr *from, unsigned char to[16]) {
    if (from->family == AF_INET && from->addrlen >= sizeof(struct sockaddr_in)) {
        memcpy(to, &((const struct sockaddr_in *)(const void *)&from->addr)->sin_addr, 4);
        return 4;
    }
    if (from->family == AF_INET6 && from->addrlen >= sizeof(struct sockaddr_in6)) {
        memcpy(to, &((const struct sockaddr_in6 *)(const void *)&from->addr)->sin6_addr, 16);
        return 16;
    }
    return 0;
}

static inline CURLcode liverelay_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode liverelay_curl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode liverelay_curl_get_string(CURL *easy, CURLINFO info, char **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode liverelay_curl_get_private(CURL *easy, void **value) {
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, value);
}

static inline CURLMcode liverelay_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLSHcode liverelay_curl_share_data(CURLSH *share, curl_lock_data data) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, data);
}
#endif
