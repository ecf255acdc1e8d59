import Channel
import Foundation
import Glibc
import LiveRing
import PlaylistRules
import Splice
import Tracker

/// What was published of a history, in order. Times are milliseconds since the channel began.
struct PublicationRecord {
    struct Version {
        let at: Int
        let life: Int
        var playlist: ParsedPlaylist
    }

    struct Segment {
        let number: UInt64
        var at: Int
        let life: Int
        var text: ParsedPlaylist.Segment
        var initialization: PublishedInit?
        /// nil: a gap, or bytes that cannot be read.
        var media: PublishedMedia?
        /// Why the bytes cannot be read.
        let error: String?

        var video: PublishedInit.Track? { initialization?.tracks.first(where: \.isVideo) }
        var audioConfiguration: [UInt8]? { initialization?.tracks.first { !$0.isVideo }?.configuration.first }

        /// In the place of a segment that another playlist does not have.
        static func gap(like other: Segment) -> Segment {
            Segment(
                number: other.number, at: other.at, life: other.life, text: other.text, initialization: nil, media: nil,
                error: nil)
        }
    }

    /// One process.
    struct Life {
        let start: Int
        var end: Int
        /// Segments counted as lost, and frames as duplicates.
        var lost = 0
        var duplicateFrames = 0
        var framesBeforeSync = 0
        var skippedSegments = 0
        /// Every count of the splice that is not zero.
        var counts: [String] = []
        var state = ""
        var sessionEnd: String?
    }

    let directory: String
    var lastTime = 0
    var versions: [Version] = []
    var segments: [Segment] = []
    /// Those of the second language.
    var languages: [Segment] = []
    var subtitles: [PublishedSubtitles] = []
    /// The bytes of segments by name, and what the archive has at the end; empty and nil without a store.
    private(set) var files: [String: [UInt8]] = [:]
    var archived: [StoreRun.Segment]?
    /// The files that were gone with each version, for a short rewind.
    var removals: [Int: [String]] = [:]
    /// Elements in collections of the channel's values, over hours.
    var sizes: [(at: Int, sizes: [String: Int])] = []
    var keepsRemovals = false
    private var stored: Set<String> = []
    private(set) var lives: [Life] = []
    private(set) var events: [(at: Int, text: String)] = []
    /// Whether events are kept, for a table.
    var keepsEvents = false
    var keepsFiles = false
    private var initializations: [String: PublishedInit] = [:]
    private var journalSize = 0
    private var journalNumber: UInt64 = 0
    private var lastText: [UInt8] = []
    private var languagePlaylist: ParsedPlaylist?

    init(directory: String) { self.directory = directory }

    mutating func beginLife(at start: Int, plannedEnd: Int) {
        lives.append(Life(start: start, end: plannedEnd))
        lastTime = start
        (journalSize, journalNumber) = stateOfJournal
    }

    mutating func endLife(_ status: RelayStatus, _ sessionEnd: SessionEnd?) {
        guard var life = lives.popLast() else { return }
        life.end = lastTime
        life.lost = Int(status.upstream.counts.lost)
        life.duplicateFrames = status.splice.counts[.duplicateFrames]
        life.framesBeforeSync = status.splice.counts[.framesBeforeSync]
        life.skippedSegments = status.splice.segmentsSkipped
        life.counts = SpliceCount.allCases.compactMap { count in
            status.splice.counts[count] == 0 ? nil : "\(count.stringValue) \(status.splice.counts[count])"
        }
        life.state = status.state.rawValue
        life.sessionEnd = sessionEnd.map { "\($0)" }
        lives.append(life)
    }

    mutating func append(_ event: UpstreamEvent, at time: Int) {
        if keepsEvents { events.append((time, "\(event)")) }
    }

    /// Records a published version.
    mutating func append(_ snapshot: RingSnapshot, at time: Int) {
        appendLanguage(snapshot, at: time)
        appendSubtitles(snapshot, at: time)
        (journalSize, journalNumber) = stateOfJournal
        guard let text = snapshot.livePlaylist(), text != lastText else { return }
        lastText = text
        let playlist = ParsedPlaylist(text, after: versions.last?.playlist)
        let life = lives.count - 1
        versions.append(Version(at: time, life: life, playlist: playlist))
        recordRemovals(playlist)
        let next = segments.last.map { $0.number + 1 } ?? playlist.mediaSequence
        for (index, segment) in playlist.segments.enumerated() {
            let number = playlist.mediaSequence + UInt64(index)
            guard number >= next else { continue }
            segments.append(read(segment, number, at: time, life))
        }
    }

    private mutating func recordRemovals(_ playlist: ParsedPlaylist) {
        guard keepsRemovals else { return }
        for segment in playlist.segments where !segment.isGap { stored.insert(segment.uri) }
        let gone = stored.filter { unsafe access("\(directory)/\($0)", F_OK) != 0 }
        removals[versions.count - 1] = gone.sorted()
        stored.subtract(gone)
    }

    private mutating func appendLanguage(_ snapshot: RingSnapshot, at time: Int) {
        guard snapshot.audioTrackCount > 0, let text = snapshot.livePlaylist(of: .audio(1)) else { return }
        let playlist = ParsedPlaylist(text, after: languagePlaylist)
        languagePlaylist = playlist
        let next = languages.last.map { $0.number + 1 } ?? playlist.mediaSequence
        for (index, segment) in playlist.segments.enumerated() {
            let number = playlist.mediaSequence + UInt64(index)
            guard number >= next else { continue }
            languages.append(read(segment, number, at: time, lives.count - 1))
        }
    }

    private mutating func appendSubtitles(_ snapshot: RingSnapshot, at time: Int) {
        guard let text = snapshot.livePlaylist(of: .subtitles(0)) else { return }
        let playlist = ParsedPlaylist(String(decoding: text, as: UTF8.self))
        let next = subtitles.last.map { $0.number + 1 } ?? playlist.mediaSequence
        for (index, segment) in playlist.segments.enumerated() {
            let number = playlist.mediaSequence + UInt64(index)
            guard number >= next, let bytes = try? bytes(segment.uri) else { continue }
            subtitles.append(
                PublishedSubtitles(number: number, at: time, text: String(decoding: bytes, as: UTF8.self)))
        }
    }

    private mutating func read(_ text: ParsedPlaylist.Segment, _ number: UInt64, at time: Int, _ life: Int) -> Segment {
        guard !text.isGap else {
            return Segment(
                number: number, at: time, life: life, text: text, initialization: nil, media: nil, error: nil)
        }
        do {
            let name = (text.map ?? "").split(separator: "\"").dropFirst().first.map(String.init) ?? ""
            let initialization = try initializations[name] ?? PublishedInit(try self.bytes(name))
            initializations[name] = initialization
            let bytes = try self.bytes(text.uri)
            if keepsFiles { files[text.uri] = bytes }
            let media = try PublishedMedia(bytes, initialization)
            return Segment(
                number: number, at: time, life: life, text: text, initialization: initialization, media: media,
                error: nil)
        } catch {
            return Segment(
                number: number, at: time, life: life, text: text, initialization: nil, media: nil, error: "\(error)")
        }
    }

    private struct Unreadable: Error { let name: String }

    private func bytes(_ name: String) throws -> [UInt8] {
        let descriptor = unsafe open("\(directory)/\(name)", O_RDONLY)
        guard descriptor >= 0 else { throw Unreadable(name: name) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Unreadable(name: name) }
        let size = Int(status.st_size)
        return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = unsafe max(0, Glibc.read(descriptor, buffer.baseAddress, size))
        }
    }

    // MARK: - Growth

    /// By the first sample, the rewind is full, and files that left it are removed.
    private static let (settled, interval) = (2_400_000, 600_000)

    /// Whether collections are counted at a time. Those of the session are counted with what it does next.
    func measures(at time: Int, _ count: InspectedSession.Count) -> Bool {
        let due = sizes.last.map { $0.at + Self.interval } ?? Self.settled
        if time > due - 60_000 { count.request() }
        return time >= due
    }

    mutating func append(_ collections: [String: Int], at time: Int) {
        var collections = collections
        collections["files"] = try? FileManager.default.contentsOfDirectory(atPath: directory).count
        sizes.append((time, collections))
    }

    // MARK: - Kills

    private var journal: String { "\(directory)/ring.m3u8" }

    /// Its size and its inode. A journal that is written anew gets another one: it is there whole, or not at all.
    private var stateOfJournal: (size: Int, number: UInt64) {
        var status = stat()
        return unsafe stat(journal, &status) == 0 ? (Int(status.st_size), UInt64(status.st_ino)) : (0, 0)
    }

    /// Cuts the record that was just written at any byte, as a kill in the middle of a publish does.
    /// - Returns: whether a record was written since the last version.
    func tearJournal(_ kill: Event) -> Bool {
        let (size, number) = stateOfJournal
        guard journalSize > 0, size > journalSize, number == journalNumber else { return false }
        return unsafe truncate(journal, off_t(kill.pick(journalSize...size - 1))) == 0
    }
}
