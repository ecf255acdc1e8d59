import Playlist
import Support

/// Judges the text of one playlist, without its past, its media and its server.
enum TextRules {
    static func judge(_ playlist: inout ScannedPlaylist) {
        guard !playlist.isMultivariant else { return MultivariantRules.judge(&playlist) }
        judgeDurations(&playlist)
        judgeDates(&playlist)
        DateRangeRules.judge(&playlist)
        LowLatencyRules.judge(&playlist)
    }

    /// The largest difference between dates and durations that is accepted.
    static let dateTolerance = Duration.seconds(1)

    private static func judgeDurations(_ playlist: inout ScannedPlaylist) {
        guard let target = playlist.targetDuration else { return }
        // A duration that ends in .5 may be rounded either way.
        let most = Duration.seconds(target) + .milliseconds(500)
        for segment in playlist.segments {
            guard let duration = segment.duration, duration > most else { continue }
            playlist.add(
                .segmentDuration, "exceeds", line: segment.line, sequence: segment.sequence,
                "EXTINF is \(segment.durationText), but EXT-X-TARGETDURATION is \(target)")
        }
    }

    /// Dates against EXTINF from one dated segment to the next of the same discontinuity sequence number.
    private static func judgeDates(_ playlist: inout ScannedPlaylist) {
        var last: (date: ProgramDateTime, discontinuity: UInt64)?
        var elapsed = Duration.zero
        for segment in playlist.segments {
            if let date = segment.date {
                if let last, last.discontinuity == segment.discontinuitySequence {
                    playlist.judged.insert(.programDateTime)
                    let drift = Duration.milliseconds(date.milliseconds(since: last.date)) - elapsed
                    if drift > dateTolerance || drift < .zero - dateTolerance {
                        playlist.add(
                            .programDateTime, "against-extinf", line: segment.line, sequence: segment.sequence,
                            "the date is \(drift.magnitudeText) \(drift > .zero ? "later" : "earlier") than the date "
                                + "and the EXTINF of the segments before say")
                    }
                }
                last = (date, segment.discontinuitySequence)
                elapsed = .zero
            }
            elapsed += segment.duration ?? .zero
        }
    }
}

extension Duration {
    package var magnitude: Duration { self < .zero ? .zero - self : self }

    /// `1.25 s`, without sign, with milliseconds.
    package var magnitudeText: String { "\(DecimalSeconds.text(Self.milliseconds(magnitude.wholeMilliseconds))) s" }
}
