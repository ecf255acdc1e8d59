// libavformat and libavcodec as Swift can call them: function-like macros are not imported.
#ifndef LIVERELAY_CLIBAV_SHIM_H
#define LIVERELAY_CLIBAV_SHIM_H
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#endif
