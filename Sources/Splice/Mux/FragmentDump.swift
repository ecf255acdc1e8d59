/// A segment in words: what golden files and `inspect` show.
package enum FragmentDump {
    /// A line for each track of the init section, each fragment, each track in it and each sample. Times are in the
    /// track's timescale; a hash is 64-bit FNV-1a of the payload.
    ///
    ///     track 1 vide avc1 timescale=90000 1280x720 avcC=cbf29ce484222325
    ///     fragment 7: styp moof mdat
    ///       track 1 tfdt=18000 samples=1
    ///         dts=18000 duration=3600 offset=+18000 sync size=1200 cbf29ce484222325
    ///
    /// What is malformed ends the text with a line that says where.
    package static func text(initSection: [UInt8], segment: [UInt8]) -> String {
        var lines: [String] = []
        do throws(SpliceError) {
            lines += try MovieTrack.tracks(of: initSection).map(line)
            let order = try BoxReader.boxes(in: segment[...]).map { "\($0.type)" }.joined(separator: " ")
            for fragment in try MovieFragment.fragments(of: segment) {
                lines.append("fragment \(fragment.sequenceNumber): \(order)")
                lines += fragment.tracks.flatMap(self.lines)
            }
        } catch {
            lines.append("malformed: \(error.reason) at byte \(error.offset) (\(error.section))")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func line(_ track: MovieTrack) -> String {
        // Our own init sections have one entry a track.
        let entry = track.sampleEntries[0]
        let format =
            switch entry.format {
            case .video(let width, let height): "\(width)x\(height)"
            case .audio(let channels, let sampleRate): "channels=\(channels) rate=\(sampleRate)"
            case .other: "-"
            }
        let records = entry.configuration.map { " \($0.type)=\(ContentHash.mark(of: $0.payload))" }.joined()
        let kind = "\(track.handler) \(entry.type) timescale=\(track.timescale)"
        return "track \(track.trackID) \(kind) \(format)\(records)"
    }

    private static func lines(_ track: TrackFragment) -> [String] {
        let start = track.decodeTime.map(String.init) ?? "none"
        var time = track.decodeTime ?? 0
        var lines = ["  track \(track.trackID) tfdt=\(start) samples=\(track.samples.count)"]
        for sample in track.samples {
            lines.append("    dts=\(time) \(line(sample))")
            time &+= UInt64(sample.duration)
        }
        return lines
    }

    private static func line(_ sample: TrackFragment.Sample) -> String {
        let offset = sample.compositionOffset
        let sign = offset < 0 ? "" : "+"
        let kind = sample.isSync ? "sync" : "delta"
        let hash = ContentHash.mark(of: sample.payload)
        return "duration=\(sample.duration) offset=\(sign)\(offset) \(kind) size=\(sample.payload.count) \(hash)"
    }
}
