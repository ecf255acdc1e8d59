import ArchiveStore
import LiveRing
import Support

/// The archive of a channel in an object store, on virtual time. Times are milliseconds since the channel began.
///
/// `ArchiveUpload` decides what each process puts. Its steps are carried out here, by a store that is slow, fails for a time,
/// or loses answers.
struct StoreRun {
    private struct Request {
        let answer: ArchiveUpload.Input
        let at: Int
        /// What the store has from then on.
        let object: (name: String, bytes: [UInt8])?
    }

    /// A segment that readers of the archive get.
    struct Segment {
        let number: UInt64
        /// nil: it is a gap.
        var bytes: [UInt8]?
    }

    private let history: History
    private let trait: Event
    private var upload: ArchiveUpload
    private var start = 0
    private var request: Request?
    private var requests: UInt64 = 0
    /// Whether the last process ended in peace, so that all that it had published was put.
    private(set) var isClosed = false
    private var objects: [String: [UInt8]] = [:]

    private static let writer = "w"

    /// nil: the history has no store.
    init?(_ history: History) {
        guard let trait = history.all(.store).first else { return nil }
        (self.history, self.trait) = (history, trait)
        upload = ArchiveUpload(writer: Self.writer)
    }

    mutating func beginLife(at time: Int) {
        var policy = ArchiveUpload.Policy()
        policy.objectDuration = .seconds([0, 4, 10][trait.pick(0...2, 1)])
        policy.indexInterval = .seconds([5, 20, 60][trait.pick(0...2, 2)])
        (upload, start) = (ArchiveUpload(policy, writer: Self.writer), time)
    }

    /// Ends a process. What it was putting comes, or does not.
    mutating func endLife() {
        if let object = request?.object, trait.pick(0...1, requests) == 0 { objects[object.name] = object.bytes }
        request = nil
    }

    /// Goes on until a time, with what is published by then.
    mutating func advance(to time: Int, _ ring: RingSnapshot?) {
        guard let ring else { return }
        while let due = request, due.at <= time {
            if let object = due.object { objects[object.name] = object.bytes }
            request = nil
            send(due.answer, at: due.at, ring)
        }
        guard request == nil else { return }
        send(.evicted(before: ring.index.oldestMediaSequence), at: time, ring)
        let first = max(upload.nextMediaSequence, ring.index.oldestMediaSequence)
        let news = (0..<1024).lazy.map { ring.index.entry(numbered: first + UInt64($0)) }.prefix { $0 != nil }
        send(.published(news.compactMap(\.self), like: ArchiveIndex(like: ring)), at: time, ring)
        send(.tick, at: time, ring)
    }

    /// Puts what is left, after the last publication.
    mutating func close(at time: Int, _ ring: RingSnapshot?) {
        guard let ring else { return }
        isClosed = true
        for time in stride(from: time, to: time + 3_600_000, by: 1000) where !upload.isFinished {
            advance(to: time, ring)
            send(.closing, at: time, ring)
        }
    }

    private mutating func send(_ input: ArchiveUpload.Input, at time: Int, _ ring: RingSnapshot) {
        guard request == nil, let step = upload.handle(input, at: .milliseconds(time - start)) else { return }
        requests += 1
        var latency = 30 + trait.pick(0...270, requests)
        if trait.pick(0...2, 3) == 0 { latency += trait.pick(0...9000, requests + 1000) }
        guard let (answer, object) = outcome(of: step, ring) else {
            request = Request(answer: .lost, at: time, object: nil)
            return
        }
        let failure = history.events.first { $0.thing == .storeFails && $0.at <= time && time < $0.end }
        let isLost = failure == nil && trait.pick(0...7, requests + 2000) == 0
        let failed = ArchiveUpload.Input.failed(retryAfter: failure?.pick(0...1) == 0 ? .seconds(3) : nil)
        request = Request(
            answer: failure != nil || isLost ? failed : answer, at: time + latency,
            object: failure == nil ? object : nil)
    }

    /// What a step brings in a store that answers; nil: its files are gone.
    private func outcome(
        of step: ArchiveUpload.Step, _ ring: RingSnapshot
    ) -> (ArchiveUpload.Input, object: (name: String, bytes: [UInt8])?)? {
        switch step {
        case .findEnd(let writer):
            let newest = indexes.filter { $0.key.writer == writer }.last
            return (newest.map { .foundEnd($0, $1, next: ring.index.nextMediaSequence) } ?? .foundNothing, nil)
        case .takeName: return (.named("\(upload.writer)x"), nil)
        case .putShared(let file): return bytes(of: [file], ring).map { (.done(), (file.name, $0)) }
        case .putObject(let files, _):
            return bytes(of: files, ring).map { bytes in
                let name = Hexadecimal.encode(SHA256.digest(of: bytes) ?? []) + ".m4s"
                return (.done(object: name), (name, bytes))
            }
        case .putIndex(let key, let index): return (.done(), (key.text, index.text))
        }
    }

    private func bytes(of files: [SpoolFile], _ ring: RingSnapshot) -> [UInt8]? {
        let all = files.map { try? ring.bytes(of: $0) }
        return all.contains(nil) ? nil : all.flatMap { $0 ?? [] }
    }

    /// The indexes in the store, in the order of their segments.
    private var indexes: [(key: IndexKey, index: ArchiveIndex)] {
        objects.compactMap { name, bytes in
            guard let key = IndexKey(name), let index = try? ArchiveIndex(bytes, name: name) else { return nil }
            return (key, index)
        }.sorted { $0.key.firstMediaSequence < $1.key.firstMediaSequence }
    }

    /// The segments that the indexes in the store have.
    var archived: [Segment] {
        indexes.flatMap { _, index in
            let places = index.places
            return index.entries.map { entry in
                let file = entry.segment
                let place = entry.isGap ? nil : places[file.name]
                let object = place.flatMap { objects[index.objects[$0.object].name]?.dropFirst($0.start) }
                return Segment(number: entry.mediaSequence, bytes: object.map { Array($0.prefix(file.byteCount)) })
            }
        }
    }
}
