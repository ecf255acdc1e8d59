#include "CEmbed.h"

#include <string.h>

// The compiler copies the files. As Swift arrays, a literal for each byte, they took 13 s to compile.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char overview_html[] = {
#embed "../Service/Page/overview.html"
};
static const unsigned char channel_html[] = {
#embed "../Service/Page/channel.html"
};
static const unsigned char token_html[] = {
#embed "../Service/Page/token.html"
};
static const unsigned char page_css[] = {
#embed "../Service/Page/page.css"
};
static const unsigned char overview_js[] = {
#embed "../Service/Page/overview.js"
};
static const unsigned char channel_js[] = {
#embed "../Service/Page/channel.js"
};
static const unsigned char bar_js[] = {
#embed "../Service/Page/bar.js"
};
static const unsigned char player_js[] = {
#embed "../Service/Page/player.js"
};
static const unsigned char playhead_js[] = {
#embed "../Service/Page/playhead.js"
};
static const unsigned char guide_js[] = {
#embed "../Service/Page/guide.js"
};
static const unsigned char playlist_js[] = {
#embed "../Service/Page/playlist.js"
};
static const unsigned char subtitles_js[] = {
#embed "../Service/Page/subtitles.js"
};
static const unsigned char recordings_js[] = {
#embed "../Service/Page/recordings.js"
};
static const unsigned char track_js[] = {
#embed "../Service/Page/track.js"
};
static const unsigned char words_js[] = {
#embed "../Service/Page/words.js"
};
static const unsigned char views_css[] = {
#embed "../Service/Page/views.css"
};
static const unsigned char list_js[] = {
#embed "../Service/Page/list.js"
};
static const unsigned char grid_js[] = {
#embed "../Service/Page/grid.js"
};
static const unsigned char events_js[] = {
#embed "../Service/Page/events.js"
};
static const unsigned char record_js[] = {
#embed "../Service/Page/record.js"
};
static const unsigned char api_js[] = {
#embed "../Service/Page/api.js"
};
static const unsigned char connect_js[] = {
#embed "../Service/Page/connect.js"
};
static const unsigned char viewers_js[] = {
#embed "../Service/Page/viewers.js"
};
static const unsigned char icon_svg[] = {
#embed "../Service/Page/icon.svg"
};

#define FILE_ENTRY(name, bytes) {name, bytes, sizeof bytes}

static const struct liverelay_embedded_file files[] = {
    FILE_ENTRY("overview.html", overview_html),
    FILE_ENTRY("channel.html", channel_html),
    FILE_ENTRY("token.html", token_html),
    FILE_ENTRY("page.css", page_css),
    FILE_ENTRY("overview.js", overview_js),
    FILE_ENTRY("channel.js", channel_js),
    FILE_ENTRY("bar.js", bar_js),
    FILE_ENTRY("player.js", player_js),
    FILE_ENTRY("playhead.js", playhead_js),
    FILE_ENTRY("guide.js", guide_js),
    FILE_ENTRY("playlist.js", playlist_js),
    FILE_ENTRY("subtitles.js", subtitles_js),
    FILE_ENTRY("recordings.js", recordings_js),
    FILE_ENTRY("track.js", track_js),
    FILE_ENTRY("words.js", words_js),
    FILE_ENTRY("views.css", views_css),
    FILE_ENTRY("list.js", list_js),
    FILE_ENTRY("grid.js", grid_js),
    FILE_ENTRY("events.js", events_js),
    FILE_ENTRY("record.js", record_js),
    FILE_ENTRY("api.js", api_js),
    FILE_ENTRY("connect.js", connect_js),
    FILE_ENTRY("viewers.js", viewers_js),
    FILE_ENTRY("icon.svg", icon_svg),
};

const struct liverelay_embedded_file *liverelay_embedded_file(const char *name) {
    for (size_t index = 0; index < sizeof files / sizeof files[0]; index++) {
        if (strcmp(files[index].name, name) == 0) return &files[index];
    }
    return NULL;
}
