import Playlist

/// A list of segments `numbers`, each `seconds` long.
func mediaPlaylist(
    _ numbers: Range<UInt64>, seconds: Int = 6, targetDuration: Int? = nil, uri: (UInt64) -> String = { "seg\($0).ts" },
    edit: (inout MediaPlaylist) -> Void = { _ in }
) -> MediaPlaylist {
    let segments = numbers.map { MediaSegment(uri: uri($0), duration: .seconds(seconds), mediaSequence: $0) }
    var list = MediaPlaylist(
        targetDuration: .seconds(targetDuration ?? seconds), mediaSequence: numbers.lowerBound, segments: segments)
    edit(&list)
    return list
}

/// The same with a date before each segment, as if number 0 began at `epoch` seconds.
func datedPlaylist(
    _ numbers: Range<UInt64>, epoch: Int64 = 0, uri: (UInt64) -> String = { "seg\($0).ts" }
) -> MediaPlaylist {
    mediaPlaylist(numbers, uri: uri) { list in
        for index in list.segments.indices {
            let seconds = epoch + 6 * Int64(list.segments[index].mediaSequence & 0xFFFF_FFFF)
            list.segments[index].programDateTime = ProgramDateTime(millisecondsSince1970: seconds * 1000)
        }
    }
}
