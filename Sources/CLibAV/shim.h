// libavformat, libavcodec and libswresample for Swift, with constants for the computed macros that Swift does not
// import.
#ifndef LIVERELAY_CLIBAV_SHIM_H
#define LIVERELAY_CLIBAV_SHIM_H
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>

static const int averrorEOF = AVERROR_EOF;
static const int averrorAgain = AVERROR(EAGAIN);
static const int averrorNoMemory = AVERROR(ENOMEM);
static const int averrorDecoderNotFound = AVERROR_DECODER_NOT_FOUND;
static const int averrorEncoderNotFound = AVERROR_ENCODER_NOT_FOUND;
static const int averrorInvalidData = AVERROR_INVALIDDATA;
static const int64_t avNoPTS = AV_NOPTS_VALUE;
#endif
