extension SpliceWarning {
    package var message: String {
        switch self {
        case .unsupportedVideo(let entries):
            "No video is published, because \(entries.joined(separator: ", ")) in fragmented MP4 cannot be republished"
        case .unsupportedAudio(let entries):
            "Not all audio is published, because \(entries.joined(separator: ", ")) in fragmented MP4 cannot be republished"
        case .noRandomAccessPoint:
            "No random access point has come, so the video begins with a frame that is none: decoders show errors in it "
                + "until the encoder has refreshed the image"
        case .foreignParameterSets:
            "The parameter sets of the video are not those of its init section, which may be that of an earlier run of the "
                + "packager: where the video has none, it cannot be decoded"
        case .mediaReleased:
            "Video is published before its audio or the end of its GOP has come, because more of it waits than "
                + "--memory-limit has room for"
        case .videoTimedOut: "The video has not come back, so the channel goes on with its audio alone"
        }
    }
}
