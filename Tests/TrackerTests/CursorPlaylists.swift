import Playlist
import Support

/// Returns a playlist of the segments `numbers`, each `seconds` long.
func mediaPlaylist(
    _ numbers: Range<UInt64>, seconds: Int = 6, targetDuration: Int? = nil, uri: (UInt64) -> String = { "seg\($0).ts" },
    edit: (inout MediaPlaylist) -> Void = { _ in }
) -> MediaPlaylist {
    let segments = numbers.map { MediaSegment(uri: uri($0), duration: .seconds(seconds), mediaSequence: $0) }
    var playlist = MediaPlaylist(
        targetDuration: .seconds(targetDuration ?? seconds), mediaSequence: numbers.lowerBound, segments: segments)
    edit(&playlist)
    return playlist
}

/// Returns a playlist with a date before each segment. Number 0 begins at `epoch` seconds.
func datedPlaylist(
    _ numbers: Range<UInt64>, epoch: Int64 = 0, uri: (UInt64) -> String = { "seg\($0).ts" }
) -> MediaPlaylist {
    mediaPlaylist(numbers, uri: uri) { playlist in
        for index in playlist.segments.indices {
            let seconds = epoch + 6 * Int64(playlist.segments[index].mediaSequence & 0xFFFF_FFFF)
            playlist.segments[index].programDateTime = ProgramDateTime(millisecondsSince1970: seconds * 1000)
        }
    }
}
