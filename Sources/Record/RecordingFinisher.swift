import Export
import Glibc
import LiveRing
import Media
import Mux
import Playlist
import Support

/// Gives a closed recording its last form by copying samples, and writes the additional files.
package struct RecordingFinisher: Sendable {
    enum Failure: Error, Sendable {
        case file(RecordingFile.Failure)
        case media(MediaError)
        /// The video changes its codec, or the audio its decoder configuration. A Matroska track cannot change these.
        case formatChanges
    }

    /// The longest movie; the tables of a longer one would take more memory than a channel may.
    private static let longestMovie = Ticks(86_400 * Ticks.perSecond)

    let file: RecordingFile
    let report: RecordingReport

    /// - Returns: nil if nothing was recorded.
    init?(_ file: RecordingFile) {
        guard let report = RecordingReport(file.journal) else { return nil }
        (self.file, self.report) = (file, report)
    }

    /// Waits for the disk. The transport stream stays if it cannot be copied.
    /// - Returns: the path of the recording, and the reason if it has another format than requested.
    func finish() throws(RecordingFile.Failure) -> (path: String, note: String?) {
        var (format, note): (RecordingFormat, String?) = (report.journal.plan.format, nil)
        if format == .mkv {
            do throws(Failure) { try write(.mkv) } catch {
                note = error.reason(against: .mkv)
                format = if case .formatChanges = error { .mp4 } else { .ts }
            }
        }
        if format == .mp4, report.duration > Self.longestMovie {
            (format, note) = (.ts, "An .mp4 has 24 hours at most: see --split.")
        }
        if format == .mp4 {
            do throws(Failure) { try write(.mp4) } catch { (format, note) = (.ts, error.reason(against: .mp4)) }
        }
        let base = report.journal.plan.path
        let path = "\(base).\(format.rawValue)"
        let name = String(path.split(separator: "/").last ?? "")
        var texts = [("json", report.document(file: name, note: note))]
        if !report.breaks.isEmpty { texts += [("edl", report.editDecisionList), ("ffmeta", report.metadata)] }
        for (suffix, text) in texts { try RecordingFile.replace("\(base).\(suffix)", with: Array(text.utf8)) }
        file.finishPlaylist(staysAsItIs: format == .ts)
        // In this order, so that no process begins the recording again from its remaining files.
        file.forget()
        if format != .ts { _ = unsafe unlink(file.mediaPath) }
        return (path, note)
    }

    /// Gives a recording its last form on the thread for it, and then removes expired recordings.
    /// - Parameter sweep: returns the paths of the removed recordings.
    /// - Returns: no result if nothing was recorded.
    package static func finish(
        _ file: RecordingFile, sweep: @escaping @Sendable () -> [String]
    ) async -> (result: Result<(path: String, note: String?), RecordingFile.Failure>?, removed: [String]) {
        await MediaPool.finishing.perform {
            guard let finisher = RecordingFinisher(file) else {
                file.remove()
                return (nil, [])
            }
            let result = Result { () throws(RecordingFile.Failure) in
                try file.close()
                return try finisher.finish()
            }
            return (result, sweep())
        }
    }

    private func write(_ format: RecordingFormat) throws(Failure) {
        let path = "\(report.journal.plan.path).\(format.rawValue)"
        let part = path + ".part"
        do throws(RecordingFile.Failure) { try file.requireSpace(UInt64(report.journal.byteCount)) } catch {
            throw .file(error)
        }
        do throws(Failure) {
            let output: Descriptor
            do throws(RecordingFile.Failure) { output = try Descriptor(part, O_WRONLY | O_CREAT | O_TRUNC) } catch {
                throw Failure.file(error)
            }
            if format == .mkv { try writeMatroska(to: output) } else { try writeMovie(to: output) }
            // The transport stream is removed only after this.
            guard fsync(output.raw) == 0 else { throw .file(.system(code: errno, path: part)) }
        } catch {
            _ = unsafe unlink(part)
            throw error
        }
        guard unsafe rename(part, path) == 0 else { throw .file(.system(code: errno, path: path)) }
    }

    private func forEachPart(_ body: (RecordedMedia.Part) throws(Failure) -> Void) throws(Failure) {
        var media = RecordedMedia()
        for index in report.journal.segments.indices { try body(try part(index, &media)) }
    }

    private func part(_ index: Int, _ media: inout RecordedMedia) throws(Failure) -> RecordedMedia.Part {
        let segments = report.journal.segments
        let bytes: [UInt8]
        do throws(RecordingFile.Failure) {
            bytes = try file.read((index == 0 ? 0 : segments[index - 1].end)..<segments[index].end)
        } catch { throw .file(error) }
        do throws(MediaError) { return try media.read(bytes, near: segments[index].presented.lowerBound) } catch {
            throw .media(error)
        }
    }

    /// Writes the sample tables first, so the media is read twice.
    private func writeMovie(to output: Descriptor) throws(Failure) {
        var movie = RecordedMovie()
        try forEachPart { (part) throws(Failure) in
            do throws(MediaError) { try movie.append(part) } catch { throw .media(error) }
        }
        let network = report.journal.plan.channel.map { [MovieWriter.Tag(.network, $0)] } ?? []
        let tags = [.init(.title, report.title), .init(.date, report.date.text)] + network
        try Self.write(movie.head(lasting: report.duration, chapters: report.chapters, tags: tags), to: output)
        try forEachPart { (part) throws(Failure) in try Self.write(part.payload, to: output) }
    }

    private func writeMatroska(to output: Descriptor) throws(Failure) {
        var (writer, origin, audio): (MatroskaWriter?, Ticks, [Int: RecordedMedia.Audio]) = (nil, .zero, [:])
        var video: VideoConfiguration.Codec?
        var media = RecordedMedia()
        // The last head describes every track, because tracks of a channel are only added.
        let ends = Set([0, report.journal.segments.count - 1])
        for index in ends.sorted() {
            for track in try part(index, &media).audio where audio[track.number] == nil { audio[track.number] = track }
        }
        try forEachPart { (part) throws(Failure) in
            if writer == nil {
                (origin, video) = (part.start ?? report.origin, part.videoConfiguration?.codec)
                let made = try begin(part.videoConfiguration, audio, media.subtitleServices)
                writer = made
                try Self.write(made.head, to: output)
            }
            for track in part.audio {
                let known = audio[track.number]?.configuration
                if known == nil || known != track.configuration,
                    known?.codec == .aac || track.configuration.codec != known?.codec
                {
                    throw .formatChanges
                }
            }
            if let next = part.videoConfiguration, next.codec != video { throw .formatChanges }
            try Self.write(writer?.clusters(part.frames(from: origin)) ?? [], to: output)
        }
        guard let end = writer?.end() else { return }
        try Self.write(end.tail, to: output)
        for patch in end.patches {
            do throws(RecordingFile.Failure) { try output.write(patch.bytes, at: patch.offset) } catch {
                throw .file(error)
            }
        }
    }

    private func begin(
        _ video: VideoConfiguration?, _ audio: [Int: RecordedMedia.Audio], _ subtitles: [SubtitlingService]
    ) throws(Failure) -> MatroskaWriter {
        let tracks = audio.map { (MatroskaWriter.audioTrack + UInt8($0), MatroskaWriter.Audio($1)) }
        let tags: [(name: String, value: String?)] = [
            ("TITLE", report.title), ("CHANNEL", report.journal.plan.channel), ("DATE_RECORDED", report.date.text),
        ]
        do throws(MediaError) {
            return try MatroskaWriter(
                video: video, audio: Dictionary(uniqueKeysWithValues: tracks), subtitles: subtitles,
                .init(
                    title: report.title, date: report.date.millisecondsSince1970, duration: report.duration,
                    tags: tags.compactMap { tag in tag.value.map { (tag.name, $0) } }, chapters: report.chapters))
        } catch { throw .media(error) }
    }

    private static func write(_ bytes: [UInt8], to output: Descriptor) throws(Failure) {
        do throws(RecordingFile.Failure) { try output.write(bytes[...]) } catch { throw .file(error) }
    }
}

extension RecordingFinisher.Failure {
    fileprivate func reason(against format: RecordingFormat) -> String {
        switch self {
        case .file(.full): "The disk has no room for a copy as .\(format.rawValue)."
        case .file(let failure): "No .\(format.rawValue) could be written: \(failure.message)"
        case .media: "The transport stream cannot be read whole."
        case .formatChanges:
            "The audio changes its sample rate or its channels, or the video its codec, which Matroska cannot hold in one track."
        }
    }
}

extension RecordingFile.Failure {
    package var message: String {
        switch self {
        case .full: "the disk is full: 1 GiB of it stays free, or a tenth"
        case .inUse(let path): "another process writes \(path)"
        case .closed: "liverelay ends"
        case .system(let code, let path): "\(path): \(unsafe String(cString: strerror(code)))"
        }
    }
}

extension MatroskaWriter.Audio {
    fileprivate init(_ audio: RecordedMedia.Audio) { self.init(audio.configuration, track: audio.track) }
}
