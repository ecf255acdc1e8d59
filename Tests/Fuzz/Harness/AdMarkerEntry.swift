import LiveRing
import Playlist
import Support

/// Entry for the upstream's ad markers on their way to the published playlists.
enum AdMarkerEntry {
    static let entry = FuzzEntry(
        "ad-markers", "the cue tags and date ranges of a media playlist, placed on published dates", largest: 4096,
        dictionary: [
            "#EXT-X-CUE-OUT:30\n", "#EXT-X-CUE-OUT-CONT:ElapsedTime=1,Duration=30\n", "#EXT-X-CUE-IN\n",
            "#EXT-OATCLS-SCTE35:", "#EXT-X-DATERANGE:ID=\"", "START-DATE=\"2026-01-01T00:00:00Z\"", "END-DATE=\"",
            "DURATION=", "PLANNED-DURATION=", "END-ON-NEXT=YES", "CLASS=\"", "SCTE35-OUT=0xFC", "SCTE35-IN=0xFC",
            "SCTE35-CMD=0xFC", "X-A=1", "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00+23:59", "9999999999.999",
        ],
        seeds: { seeds in
            let playlists = seeds.playlists.filter { $0.firstRange(of: Array("#EXT-X-DATERANGE".utf8)) != nil }
            return playlists.prefix(10).map { Array($0.prefix(4096)) } + [Array(breaks.utf8)]
        },
        run: { bytes in
            let playlist: MediaPlaylist
            do throws(PlaylistError) { playlist = try MediaPlaylistParser.parse(bytes) } catch { return }
            let index = RingIndex(policy: RetentionPolicy(rewind: .seconds(60)), targetDuration: 6)
            for isDated in [true, false] {
                var timeline = AdMarkerTimeline(resuming: index)
                for (number, segment) in playlist.segments.enumerated() {
                    timeline.append(
                        UpstreamAdMarkers(
                            mediaSequence: segment.mediaSequence, cueTags: segment.cueTags,
                            dateRanges: (number == 0 ? playlist.dateRanges : []) + segment.dateRanges))
                    let date = ProgramDateTime(millisecondsSince1970: 1_767_225_600_000 + Int64(number) * 6000)
                    let markers = timeline.dequeueMarkers(
                        for: AdMarkerTarget(
                            date: date,
                            placements: [
                                AdMarkerPlacement(
                                    mediaSequence: segment.mediaSequence, date: date,
                                    upstreamDate: isDated ? segment.programDateTime : nil)
                            ]))
                    try checkPlaylist(markers, at: date)
                }
            }
        })

    private static func checkPlaylist(_ markers: SegmentAdMarkers, at date: ProgramDateTime) throws {
        var segment = MediaSegment(uri: "a.m4s", duration: .seconds(6))
        segment.programDateTime = date
        segment.unknownTags = markers.cueTags.map(\.line)
        segment.dateRanges = markers.dateRanges
        let text = PlaylistWriter.write(MediaPlaylist(targetDuration: .seconds(6), segments: [segment]))
        let again: MediaPlaylist
        do throws(PlaylistError) { again = try MediaPlaylistParser.parse(Array(text.utf8)) } catch {
            throw FuzzFinding(description: "the published markers cannot be parsed: \(error)\n\(text)")
        }
        try demand(
            again.segments.first?.dateRanges == markers.dateRanges, "different date ranges are parsed from\n\(text)")
        try demand(again.segments.first?.cueTags == markers.cueTags, "different cue tags are parsed from\n\(text)")
        for range in markers.dateRanges {
            try demand(range.startDate != nil, "a date range is published without START-DATE:\n\(text)")
        }
    }

    private static let breaks = """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-PROGRAM-DATE-TIME:2026-01-01T12:00:00Z
        #EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T12:00:03Z",PLANNED-DURATION=30,SCTE35-OUT=0xFC00
        #EXT-X-CUE-OUT:30
        #EXTINF:6,
        a
        #EXT-X-CUE-OUT-CONT:ElapsedTime=6,Duration=30
        #EXTINF:6,
        b
        #EXT-X-CUE-IN
        #EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T12:00:03Z",DURATION=9,SCTE35-IN=0xFC00
        #EXTINF:6,
        c

        """
}
