import Demux
import Media
import Support

extension WebVTT {
    /// Reads a segment of subtitles: text, or WebVTT in fragmented MP4.
    /// - Throws: `.unknownContainer` if it is neither, `.tooLarge`, and what is wrong with a box.
    init(_ input: SubtitleInput) throws(MediaError) {
        guard LocatedMedia.isFragmentedMP4(input.bytes) else {
            self = try WebVTTParser.parse(input.bytes)
            return
        }
        guard input.bytes.count <= SubtitleLimits.fileBytes else {
            throw MediaError(.tooLarge(bytes: input.bytes.count), section: BoxReader.section)
        }
        let samples = try WebVTTSamples(
            input.bytes, initialization: input.initialization, limit: SubtitleLimits.fileCues)
        // The times of samples are those of the media.
        map = .absent
        if !samples.header.isEmpty { definitions = try WebVTTParser.parse(samples.header).definitions }
        dropped = samples.dropped
        cues = samples.cues.map { cue in
            Cue(
                identifier: cue.identifier?.firstLine.nilIfEmpty, start: cue.start.roundedMilliseconds,
                end: cue.end.roundedMilliseconds, settings: cue.settings.firstLine, payload: cue.text.withoutEmptyLines)
        }
    }
}

extension String {
    fileprivate var firstLine: String {
        String(split(maxSplits: 1, omittingEmptySubsequences: false, whereSeparator: \.isNewline)[0])
            .replacing("-->", with: "")
    }

    fileprivate var nilIfEmpty: String? { isEmpty ? nil : self }

    /// The lines that can stand in a cue of a file.
    fileprivate var withoutEmptyLines: String {
        split(whereSeparator: \.isNewline).map { $0.replacing("-->", with: "--&gt;") }.joined(separator: "\n")
    }
}
