package import LiveRing
package import Playlist
package import Support

/// The newest segments of a channel that another relay put into a store, for a relay that continues its live playlist.
///
/// The relays of a fleet give each number to one segment. Therefore entries of several writers belong together.
package struct StoredWindow: Sendable {
    /// The most segments and bytes of a window.
    private static let (segmentLimit, byteLimit) = (16, 64 << 20)
    /// The most indexes of one hour that are read.
    private static let indexLimit = 8
    private static let objectsAtOnce = 8

    /// In the order of their numbers, without the numbers of no known segment.
    package let entries: [RingEntry]
    package let declared: [Rendition]
    /// The keys of objects, and the files in them, the newest segments first.
    private let objects: [(key: String, files: [SpoolFile])]
    private let store: ObjectStore

    /// Reads the entries of a window; nil if the store has none of them.
    /// - Parameters:
    ///   - last: the number of the newest published segment.
    ///   - end: its end.
    ///   - duration: the duration of the window.
    package init?(
        before last: UInt64, until end: ProgramDateTime, lasting duration: Duration, in store: ObjectStore
    ) async throws(StoreError) {
        let start = end.advanced(byMilliseconds: -duration.components.seconds * 1000)
        var found: [UInt64: (entry: RingEntry, key: IndexKey, index: LoadedIndex)] = [:]
        for hour in Set([IndexKey.hour(of: start), IndexKey.hour(of: end)]).sorted() {
            for key in try await Self.keys(inHour: hour, upTo: last, in: store) {
                let index = LoadedIndex(try await store.index(key), version: "")
                for entry in index.index.entries
                where entry.mediaSequence <= last && entry.programDateTimeEnd > start && entry.programDateTime < end {
                    if found[entry.mediaSequence]?.entry.isGap ?? true {
                        found[entry.mediaSequence] = (entry, key, index)
                    }
                }
            }
        }
        let window = Self.consistent(found.values.sorted { $0.entry.mediaSequence > $1.entry.mediaSequence })
        guard let newest = window.first else { return nil }
        self.store = store
        entries = window.reversed().map(\.entry)
        declared = newest.index.index.declared
        objects = Self.objects(of: window)
    }

    /// The keys of the last indexes of each writer that may have segments up to a number.
    private static func keys(
        inHour hour: Int64, upTo last: UInt64, in store: ObjectStore
    ) async throws(StoreError) -> [IndexKey] {
        let page = try await store.page(IndexKey.folder(ofHour: hour) + "/")
        let keys = page.objects.compactMap { IndexKey($0.key) }.filter { $0.firstMediaSequence <= last }
        let newest = Dictionary(grouping: keys, by: \.writer).values
            .flatMap { $0.sorted { $0.firstMediaSequence > $1.firstMediaSequence }.prefix(2) }
        return Array(newest.sorted { $0.firstMediaSequence > $1.firstMediaSequence }.prefix(indexLimit))
    }

    /// The newest entries whose dates and discontinuity numbers do not go back.
    private static func consistent(
        _ newestFirst: [(entry: RingEntry, key: IndexKey, index: LoadedIndex)]
    ) -> [(entry: RingEntry, key: IndexKey, index: LoadedIndex)] {
        var window: [(entry: RingEntry, key: IndexKey, index: LoadedIndex)] = []
        for next in newestFirst.prefix(segmentLimit) {
            if let later = window.last?.entry {
                let isBefore =
                    next.entry.programDateTimeEnd <= later.programDateTime.advanced(byMilliseconds: 1)
                    && next.entry.discontinuitySequence <= later.discontinuitySequence
                guard isBefore else { break }
            }
            window.append(next)
        }
        return window
    }

    private static func objects(
        of window: [(entry: RingEntry, key: IndexKey, index: LoadedIndex)]
    ) -> [(key: String, files: [SpoolFile])] {
        var (objects, keys, bytes) = ([(key: String, files: [SpoolFile])](), Set<String>(), 0)
        func add(_ key: String, _ files: [SpoolFile]) {
            bytes += files.reduce(0) { $0 + $1.byteCount }
            if bytes <= byteLimit, keys.insert(key).inserted { objects.append((key, files)) }
        }
        for (entry, key, loaded) in window {
            for file in entry.sharedFiles { add(IndexKey.key(ofShared: file.name), [file]) }
            for file in entry.ownFiles {
                guard let place = loaded.places[file.name] else { continue }
                let object = loaded.index.objects[place.object]
                add(key.key(ofObject: object.name), object.files)
            }
        }
        return objects
    }

    /// Reads the files of the window, several objects at once, until the task is canceled. A file that cannot be read is
    /// left out.
    /// - Parameter keep: called with each file, one after the other.
    package func readFiles(_ keep: (_ name: String, _ bytes: ArraySlice<UInt8>) -> Void) async {
        let wanted = Set(entries.flatMap { $0.ownFiles + $0.sharedFiles }.map(\.name))
        await withTaskGroup(of: (files: [SpoolFile], bytes: [UInt8]?).self) { group in
            var next = 0
            while next < min(Self.objectsAtOnce, objects.count) {
                addTask(for: objects[next], to: &group)
                next += 1
            }
            while let (files, bytes) = await group.next() {
                if next < objects.count, !Task.isCancelled {
                    addTask(for: objects[next], to: &group)
                    next += 1
                }
                guard let bytes, bytes.count == files.reduce(0, { $0 + $1.byteCount }) else { continue }
                var start = 0
                for file in files {
                    if wanted.contains(file.name) { keep(file.name, bytes[start..<start + file.byteCount]) }
                    start += file.byteCount
                }
            }
        }
    }

    private func addTask(
        for object: (key: String, files: [SpoolFile]), to group: inout TaskGroup<(files: [SpoolFile], bytes: [UInt8]?)>
    ) {
        group.addTask { [store] in
            guard let bytes = try? await store.bytes(of: object.key) else { return (object.files, nil) }
            let name = String(object.key.split(separator: "/").last ?? "")
            let isIntact =
                object.key.hasPrefix(IndexKey.mediaFolder)
                ? StoredBytes.isObject(bytes, named: name) : StoredBytes.isShared(bytes, named: name)
            return (object.files, isIntact ? bytes : nil)
        }
    }
}
