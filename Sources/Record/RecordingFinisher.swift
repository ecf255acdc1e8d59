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
        /// A break begins or ends at a frame that is no random access point. Matroska has no edit lists to hide the rest.
        case hiddenFrames
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
        let (plan, base) = (report.journal.plan, report.journal.plan.path)
        let refusal = cutRefusal
        let ads = report.breaks.isEmpty || refusal != nil ? .keep : plan.ads
        var form = convert(to: base, cuts: ads == .cut)
        form.note = form.note ?? refusal
        let report = form.cuts.map { self.report.cut(by: $0) } ?? self.report
        var cutFile: String?
        if ads == .both {
            let other = convert(to: base + ".cut", cuts: true)
            if other.cuts == nil { form.note = other.note } else { cutFile = "\(base).cut.\(other.format.rawValue)" }
        }
        let path = "\(base).\(form.format.rawValue)"
        let document = report.document(
            file: Self.name(path), cutFile: cutFile.map(Self.name), note: form.note)
        var texts = [("json", document)]
        if !report.breaks.isEmpty { texts += [("edl", report.editDecisionList), ("ffmeta", report.metadata)] }
        for (suffix, text) in texts { try RecordingFile.replace("\(base).\(suffix)", with: Array(text.utf8)) }
        file.finishPlaylist(staysAsItIs: form.format == .ts)
        // In this order, so that no process begins the recording again from its remaining files.
        file.forget()
        if form.format != .ts { _ = unsafe unlink(file.mediaPath) }
        return (path, form.note)
    }

    /// The reason why breaks that are to be cut are kept; nil if they can be, or if there is nothing to cut.
    private var cutRefusal: String? {
        guard report.journal.plan.ads != .keep, !report.breaks.isEmpty else { return nil }
        if report.isOneBreak { return "It is one ad break from its start to its end, and was not cut." }
        return report.journal.plan.format == .ts ? "A .ts keeps its ad breaks: .mp4 and .mkv can be cut." : nil
    }

    private static func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

    /// The form of a file, and what was cut of it; nil: nothing.
    private typealias Form = (format: RecordingFormat, note: String?, cuts: RecordedCuts?)

    /// Copies the transport stream into a file of the requested format, or of the next one that can hold it.
    /// - Parameters:
    ///   - base: the path of the file without its suffix.
    ///   - cuts: whether the breaks are left out.
    private func convert(to base: String, cuts isCut: Bool) -> Form {
        var form: Form = (report.journal.plan.format, nil, nil)
        guard form.format != .ts else { return form }
        do throws(Failure) {
            // A movie has its tables from the same pass that finds its samples.
            let survey = isCut || form.format == .mkv ? try survey(cutting: isCut ? report.wantedCuts : []) : nil
            let cuts = isCut ? survey?.cuts : nil
            if form.format == .mkv, let survey {
                do throws(Failure) {
                    if cuts?.isWhole == false { throw Failure.hiddenFrames }
                    try write(.mkv, to: base) { (output) throws(Failure) in
                        try writeMatroska(to: output, survey, cuts)
                    }
                    return (.mkv, nil, cuts)
                } catch {
                    form.note = error.reason(against: .mkv)
                    switch error {
                    case .formatChanges, .hiddenFrames: form.format = .mp4
                    case .file, .media: form.format = .ts
                    }
                }
            }
            guard form.format == .mp4 else { return form }
            guard report.duration <= Self.longestMovie else {
                return (.ts, "An .mp4 has 24 hours at most: see --split.", nil)
            }
            try write(.mp4, to: base) { (output) throws(Failure) in try writeMovie(to: output, cuts) }
            return (.mp4, form.note, cuts)
        } catch { return (.ts, error.reason(against: .mp4), nil) }
    }

    /// Reads the recording once, without writing anything.
    private func survey(cutting ranges: [Range<Ticks>]) throws(Failure) -> RecordedSurvey {
        var (survey, media) = (RecordedSurvey(cutting: ranges), RecordedMedia())
        for index in report.journal.segments.indices { survey.read(try part(index, &media)) }
        survey.subtitleServices = media.subtitleServices
        return survey
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

    private func write(
        _ format: RecordingFormat, to base: String, _ content: (_ output: Descriptor) throws(Failure) -> Void
    ) throws(Failure) {
        let path = "\(base).\(format.rawValue)"
        let part = path + ".part"
        do throws(RecordingFile.Failure) { try file.requireSpace(UInt64(report.journal.byteCount)) } catch {
            throw .file(error)
        }
        do throws(Failure) {
            let output: Descriptor
            do throws(RecordingFile.Failure) { output = try Descriptor(part, O_WRONLY | O_CREAT | O_TRUNC) } catch {
                throw Failure.file(error)
            }
            try content(output)
            // The transport stream is removed only after this.
            guard fsync(output.raw) == 0 else { throw .file(.system(code: errno, path: part)) }
        } catch {
            _ = unsafe unlink(part)
            throw error
        }
        guard unsafe rename(part, path) == 0 else { throw .file(.system(code: errno, path: path)) }
    }

    private func forEachPart(
        _ cuts: RecordedCuts?, _ body: (RecordedMedia.Part) throws(Failure) -> Void
    ) throws(Failure) {
        var media = RecordedMedia()
        for index in report.journal.segments.indices {
            let part = try part(index, &media)
            try body(cuts?.apply(to: part) ?? part)
        }
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
    private func writeMovie(to output: Descriptor, _ cuts: RecordedCuts?) throws(Failure) {
        var movie = RecordedMovie()
        try forEachPart(cuts) { (part) throws(Failure) in
            do throws(MediaError) { try movie.append(part) } catch { throw .media(error) }
        }
        let network = report.journal.plan.channel.map { [MovieWriter.Tag(.network, $0)] } ?? []
        let tags = [.init(.title, report.title), .init(.date, report.date.text)] + network
        let chapters = cuts.map { report.cut(by: $0).chapters } ?? report.chapters
        try Self.write(movie.head(lasting: report.duration, cuts, chapters: chapters, tags: tags), to: output)
        try forEachPart(cuts) { (part) throws(Failure) in try Self.write(part.payload, to: output) }
    }

    private func writeMatroska(
        to output: Descriptor, _ survey: RecordedSurvey, _ cuts: RecordedCuts?
    ) throws(Failure) {
        let report = cuts.map { self.report.cut(by: $0) } ?? self.report
        var (writer, origin): (MatroskaWriter?, Ticks) = (nil, .zero)
        try forEachPart(cuts) { (part) throws(Failure) in
            if writer == nil {
                origin = part.start ?? report.origin
                let made = try begin(survey, report)
                writer = made
                try Self.write(made.head, to: output)
            }
            for track in part.audio {
                let known = survey.mainAudio[track.number]?.configuration
                if known == nil || known != track.configuration,
                    known?.codec == .aac || track.configuration.codec != known?.codec
                {
                    throw .formatChanges
                }
            }
            if let next = part.videoConfiguration, next.codec != survey.mainVideo?.codec { throw .formatChanges }
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

    private func begin(_ survey: RecordedSurvey, _ report: RecordingReport) throws(Failure) -> MatroskaWriter {
        let tracks = survey.mainAudio.map { number, audio in
            (MatroskaWriter.audioTrack + UInt8(number), MatroskaWriter.Audio(audio.configuration, track: audio.track))
        }
        let tags: [(name: String, value: String?)] = [
            ("TITLE", report.title), ("CHANNEL", report.journal.plan.channel), ("DATE_RECORDED", report.date.text),
        ]
        do throws(MediaError) {
            return try MatroskaWriter(
                video: survey.mainVideo, audio: Dictionary(uniqueKeysWithValues: tracks),
                subtitles: survey.subtitleServices,
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
        case .hiddenFrames:
            "A break begins or ends between random access points, and only an .mp4 can hide the frames around it."
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
        case .laterFormat(let path): "a later version of liverelay wrote \(path)"
        case .closed: "liverelay ends"
        case .system(let code, let path): "\(path): \(unsafe String(cString: strerror(code)))"
        }
    }
}
