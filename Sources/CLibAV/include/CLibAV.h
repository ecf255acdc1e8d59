// libavcodec, libswresample and libavutil for Swift. Nothing links them: `liverelay_libav_load` opens them.
//
// There are also constants for the computed macros that Swift does not import.
#ifndef LIVERELAY_CLIBAV_H
#define LIVERELAY_CLIBAV_H
#include <libavcodec/avcodec.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>

static const int averrorEOF = AVERROR_EOF;
static const int averrorAgain = AVERROR(EAGAIN);
static const int averrorNoMemory = AVERROR(ENOMEM);
static const int averrorDecoderNotFound = AVERROR_DECODER_NOT_FOUND;
static const int averrorEncoderNotFound = AVERROR_ENCODER_NOT_FOUND;
static const int averrorInvalidData = AVERROR_INVALIDDATA;
static const int64_t avNoPTS = AV_NOPTS_VALUE;

// The functions that are used, with the library that has each.
#define LIVERELAY_LIBAV_FUNCTIONS(FUNCTION) \
    FUNCTION(avutil, av_channel_layout_copy) \
    FUNCTION(avutil, av_channel_layout_default) \
    FUNCTION(avutil, av_channel_layout_from_mask) \
    FUNCTION(avutil, av_frame_alloc) \
    FUNCTION(avutil, av_frame_free) \
    FUNCTION(avutil, av_frame_get_buffer) \
    FUNCTION(avutil, av_frame_make_writable) \
    FUNCTION(avutil, av_frame_unref) \
    FUNCTION(avutil, av_log_set_level) \
    FUNCTION(avutil, av_mallocz) \
    FUNCTION(avutil, av_opt_set_sample_fmt) \
    FUNCTION(avutil, av_pix_fmt_desc_get) \
    FUNCTION(avutil, av_samples_set_silence) \
    FUNCTION(swresample, swr_alloc) \
    FUNCTION(swresample, swr_convert_frame) \
    FUNCTION(swresample, swr_free) \
    FUNCTION(avcodec, av_new_packet) \
    FUNCTION(avcodec, av_packet_alloc) \
    FUNCTION(avcodec, av_packet_free) \
    FUNCTION(avcodec, av_packet_unref) \
    FUNCTION(avcodec, avcodec_alloc_context3) \
    FUNCTION(avcodec, avcodec_find_decoder) \
    FUNCTION(avcodec, avcodec_find_decoder_by_name) \
    FUNCTION(avcodec, avcodec_find_encoder) \
    FUNCTION(avcodec, avcodec_free_context) \
    FUNCTION(avcodec, avcodec_open2) \
    FUNCTION(avcodec, avcodec_receive_frame) \
    FUNCTION(avcodec, avcodec_receive_packet) \
    FUNCTION(avcodec, avcodec_send_frame) \
    FUNCTION(avcodec, avcodec_send_packet)

// The functions, each with the type that the headers declare.
struct liverelay_libav {
#define LIVERELAY_LIBAV_FIELD(library, name) __typeof__(name) *name;
    LIVERELAY_LIBAV_FUNCTIONS(LIVERELAY_LIBAV_FIELD)
#undef LIVERELAY_LIBAV_FIELD
};

// File names for the dynamic loader.
struct liverelay_libav_names {
    const char *avutil;
    const char *swresample;
    const char *avcodec;
};

// A library that could not be opened, or lacks a function.
struct liverelay_libav_failure {
    // One of the names; NULL if there was no failure.
    const char *library;
    // The dynamic loader's own words.
    char detail[256];
};

// The libraries of the major versions that the headers belong to.
struct liverelay_libav_names liverelay_libav_compiled(void);

// Opens the libraries. They stay open.
struct liverelay_libav_failure liverelay_libav_open(
    const struct liverelay_libav_names *names, struct liverelay_libav *functions);

// Opens the compiled libraries at the first call, on whatever thread, and silences their log. Every call returns the
// same functions, or NULL with the same failure.
const struct liverelay_libav *liverelay_libav_load(struct liverelay_libav_failure *failure);
#endif
