// libcurl as Swift can call it: its setters are variadic and its error macros are not imported.
#ifndef LIVERELAY_CCURL_SHIM_H
#define LIVERELAY_CCURL_SHIM_H
#include <curl/curl.h>
#endif
