extension Rule {
    /// By number, from 1 on.
    static let rows: [Row] = [
        Row(
            "playlist-header", .must, .text, "bis 4.1, 4.4.1.1",
            "a playlist is UTF-8 without a byte order mark or control characters, and begins with #EXTM3U",
            "Write plain UTF-8 with #EXTM3U as the first line."),
        Row(
            "tag-syntax", .must, .text, "bis 4.2, 4.4",
            "each tag is well formed, where it belongs, and no more often than permitted",
            "Correct the line; a strict player ends here."),
        Row(
            "version", .must, .text, "bis 8", "EXT-X-VERSION is high enough for the tags that are used",
            "Raise EXT-X-VERSION to the number in the finding."),
        Row(
            "segment-duration", .must, .text, "bis 4.4.3.1",
            "there is a TARGETDURATION, and each EXTINF rounds to it at most",
            "Raise EXT-X-TARGETDURATION, or make shorter segments."),
        Row(
            "constant-target-duration", .must, .time, "bis 4.4.3.1, 6.2.1", "EXT-X-TARGETDURATION never changes",
            "Choose a TARGETDURATION that fits every segment to come."),
        Row(
            "sequence-never-back", .must, .time, "bis 6.2.2", "EXT-X-MEDIA-SEQUENCE never decreases",
            "Go on with the old numbers after a restart."),
        Row(
            "sequence-growth", .must, .time, "bis 6.2.2",
            "EXT-X-MEDIA-SEQUENCE grows by the number of segments removed",
            "Count each removed segment once."),
        Row(
            "constant-segment", .must, .time, "bis 6.2.1, 6.3.4",
            "a media sequence number keeps its URI, EXTINF, MAP and KEY",
            tolerance: "another query of the URI; another IV is a change",
            "Never rewrite a listed segment; publish another one."),
        Row(
            "discontinuity-removal", .must, .time, "bis 6.2.2",
            "EXT-X-DISCONTINUITY-SEQUENCE grows by the number of tags removed",
            "Write EXT-X-DISCONTINUITY-SEQUENCE and raise it with each tag that leaves."),
        Row(
            "constant-discontinuity", .must, .time, "bis 6.2.1",
            "the discontinuity sequence number of a listed segment never changes",
            "Write the tag when the segment is listed first, and keep it."),
        Row(
            "publication-pace", .must, .time, "bis 6.2.1, 6.2.2",
            "a live playlist lists a new segment within 1.5 target durations",
            tolerance: "0.5 s; the time until the client looked again does not count",
            "Look at the encoder and the packager: segments are late or missing."),
        Row(
            "head-and-tail", .must, .time, "bis 6.2.1",
            "segments are removed only at the head and added only at the tail",
            "Remove the oldest segment only, and append new ones."),
        Row(
            "window-length", .must, .time, "bis 6.2.2",
            "no segment is removed if less than three target durations remain",
            tolerance: "0.5 s", "List more segments; six are recommended."),
        Row(
            "removed-segments", .must, .http, "bis 6.2.2",
            "a listed segment can be fetched, and a removed one for its duration and that of the longest playlist with it",
            tolerance: "asked at four fifths of that time",
            "Delete files later; players are fetching them."),
        Row(
            "end-is-final", .must, .time, "bis 4.4.3.4, 6.2.1", "nothing changes after EXT-X-ENDLIST",
            "Write EXT-X-ENDLIST only when the last segment is listed."),
        Row(
            "program-date-time", .must, .text, "bis 4.4.4.6, 6.2.1",
            "EXT-X-PROGRAM-DATE-TIME agrees with EXTINF between discontinuities, and a segment keeps its date",
            tolerance: "1 s", "Derive dates from the media's timestamps, not from the clock at writing."),
        Row(
            "date-ranges", .must, .text, "bis 4.4.5.1",
            "a DATERANGE has ID and START-DATE, does not end before it starts, and keeps its attributes",
            "Give each range an ID of its own, and only add attributes."),
        Row(
            "break-length", .note, .text, "SCTE 35, break_duration(); no standard has the tags",
            "an ad break is as long as the segments between its cue tags", tolerance: "1 s",
            "Correct the announced duration, or end the break with CUE-IN where it ends."),
        Row(
            "interstitials", .must, .text, "bis D.2",
            "an interstitial has exactly one of X-ASSET-URI (absolute) and X-ASSET-LIST, which can be fetched and read",
            "Correct the date range, or the server of ads."),
        Row(
            "gap-in-all", .note, .renditions, "bis 4.4.4.7, 6.3.3",
            "a segment with EXT-X-GAP has it in each matching rendition",
            tolerance: "renditions that cannot be matched",
            "Players that stay with one rendition stand still; list the gap everywhere, or publish the media."),
        Row(
            "keys", .must, .media, "bis 4.4.4.4, 5.2", "an AES-128 key has 16 bytes and decrypts its segments",
            "Check that the key server and the packager use the same key and IV."),
        Row(
            "init-section", .must, .media, "bis 3.1.2, 4.4.4.5", "each fMP4 segment stands under an EXT-X-MAP",
            "Write EXT-X-MAP before the first segment."),
        Row(
            "init-fits", .must, .media, "bis 3.1.2; 14496-12 8.8; 14496-15 5.3",
            "the init section fits every segment under it: tracks and parameter sets",
            "Publish a new EXT-X-MAP with a discontinuity when the encoder changes."),
        Row(
            "decode-times", .must, .media, "bis 3.1.2; 14496-12 8.8.12",
            "tfdt goes on where the segment before ended", tolerance: "a frame",
            "Let the packager add up durations instead of reading a clock."),
        Row(
            "timestamp-order", .must, .media, "bis 3, 6.2.1; 13818-1 2.4.3.7",
            "DTS rise within and across segments; the 33-bit clock may wrap", "Keep one clock through a period."),
        Row(
            "untagged-splice", .must, .media, "bis 4.4.4.3",
            "where clock, PID, codec, size or rate change there is an EXT-X-DISCONTINUITY",
            tolerance: "another size, frame rate, sample rate or number of channels is a SHOULD",
            "Write EXT-X-DISCONTINUITY before the segment named here; players stop or lose audio without it."),
        Row(
            "idle-tag", .note, .media, "bis 4.4.4.3", "EXT-X-DISCONTINUITY stands only where something changes",
            tolerance: "fMP4, where a new content may go on with the same settings; MPEG-TS whose counters begin again",
            "Leave the tag out: players flush their buffers at it."),
        Row(
            "measured-duration", .should, .media, "bis 4.4.4.1; A 8.1", "EXTINF is the duration of the media",
            tolerance: "a frame and the rounding of the written number",
            "Write the measured duration with decimals (VERSION 3 or more)."),
        Row(
            "independent-segments", .must, .media, "bis 4.4.2.1",
            "with EXT-X-INDEPENDENT-SEGMENTS each segment begins with a random access point",
            "Cut at IDR frames, or leave the tag out."),
        Row(
            "key-frames", .should, .media, "A 1.13",
            "each segment has a random access point, and one comes every 2 s",
            tolerance: "a frame; above 2 s and up to the segment's duration it is a note",
            "Set the encoder's keyframe interval to 2 s or less."),
        Row(
            "av-offset", .should, .media, "bis 3; A 7.3",
            "audio has no gap and no overlap within a period, and its offset to video stays", tolerance: "40 ms",
            "Look for lost audio frames in the encoder; players drift or click."),
        Row(
            "declared-media", .must, .renditions, "bis 4.4.6.1, 4.4.6.2; A 9",
            "CODECS, RESOLUTION, FRAME-RATE, CHANNELS and VIDEO-RANGE are those of the media",
            tolerance: "a constraint flag, a higher level, 0.5 frames per second",
            "Write the values of the media; players choose by them."),
        Row(
            "declared-bandwidth", .should, .renditions, "bis 4.4.6.2; A 1.28, 1.29",
            "peaks stay within 125 % of BANDWIDTH, and the average within 110 % of AVERAGE-BANDWIDTH",
            tolerance: "segments of less than half a target duration; fewer than 10 segments for the average",
            "Raise the attribute, or cap the encoder."),
        Row(
            "captions", .should, .renditions, "bis 4.4.6.1, 4.4.6.2; A 4",
            "CEA-608/708 captions in the video are declared", "Declare them with EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS."),
        Row(
            "groups", .must, .renditions, "bis 4.4.6.1, 4.4.6.2",
            "groups that variants name exist, and their members have NAME, LANGUAGE and at most one DEFAULT",
            tolerance: "a missing LANGUAGE is a note", "Correct the multivariant playlist."),
        Row(
            "aligned-renditions", .must, .renditions, "bis 6.2.4",
            "renditions have the same boundaries, discontinuity sequence numbers and dates",
            tolerance: "100 ms; boundaries of audio: a frame of it",
            "Package all renditions in one process, or by one clock."),
        Row(
            "timestamp-map", .must, .renditions, "bis 3.1.4, 3.5",
            "WebVTT segments have an X-TIMESTAMP-MAP by which cues fall into their segment",
            tolerance: "10 s, for cues that last over several segments",
            "Write the MPEG time of the segment, not 0 or 900000."),
        Row(
            "mime-types", .should, .http, "bis 4; A 10.4, 10.1",
            "answers have the type of their content; large playlists are compressed",
            tolerance: "a playlist whose path ends in .m3u8; no compression below 64 KiB is a note",
            "Configure the types in the web server: application/vnd.apple.mpegurl, video/mp2t, video/mp4."),
        Row(
            "caching", .should, .http, "bis B; RFC 9111 4.2",
            "a live playlist is cached for at most a target duration, and no older version comes after a newer one",
            "Set Cache-Control: max-age to half a target duration; use one origin behind the CDN."),
        Row(
            "transfers", .must, .http, "RFC 9110 8.6, 14.2; bis 3",
            "answers are whole: as long as they say, the range that was asked for, and media instead of a page",
            "Look at the server, and at proxies between."),
        Row(
            "refused-names", .note, .http, "FFmpeg hls.c (5.1.7 to 8.1)",
            "segments' names have an ending that ffmpeg reads and that fits the format; the query counts",
            tolerance: "ffmpeg 9.0 accepts more; -extension_picky 0 accepts all",
            "Let names end in .ts, .m4s, .mp4, .aac or .vtt."),
        Row(
            "low-latency", .must, .text, "bis 4.4.3.7, 4.4.3.8, 4.4.4.9, 4.4.5",
            "low-latency tags are complete and agree with each other",
            tolerance: "PART-HOLD-BACK of two part targets is a note",
            "Correct the line; players fall back to normal latency."),
    ]
}
