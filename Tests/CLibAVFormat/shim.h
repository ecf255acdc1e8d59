// libavformat for tests, which compare its packets with those of our demuxers.
#ifndef LIVERELAY_CLIBAVFORMAT_SHIM_H
#define LIVERELAY_CLIBAVFORMAT_SHIM_H
#include <libavformat/avformat.h>
#endif
