import Glibc

/// A directory of copies, each of which is complete or missing.
package struct CacheDirectory: Sendable {
    package let path: String

    /// Creates the directory, but not its parents. Copies of an earlier process are removed.
    package init(_ path: String) throws(RingError) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw .system(.createDirectory, path: path, code: errno)
        }
        self.path = path
        guard let directory = unsafe opendir(path) else { throw .system(.list, path: path, code: errno) }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if Self.isCopy(name) { remove(name) }
        }
    }

    /// Whether `name` is a digest, possibly of an incomplete copy.
    private static func isCopy(_ name: String) -> Bool {
        let base = name.hasSuffix(SpoolName.partSuffix) ? name.dropLast(SpoolName.partSuffix.count) : name[...]
        return base.utf8.count == 64
    }

    package func path(of name: String) -> String { "\(path)/\(name)" }

    package func write(_ bytes: ArraySlice<UInt8>, as name: String) throws(RingError) {
        let (part, whole) = (path(of: name + SpoolName.partSuffix), path(of: name))
        do throws(RingError) {
            try FileDescriptor(part, flags: O_WRONLY | O_CREAT | O_TRUNC).write([bytes])
            guard unsafe rename(part, whole) == 0 else { throw RingError.system(.rename, path: whole, code: errno) }
        } catch {
            unsafe unlink(part)
            throw error
        }
    }

    package func bytes(of name: String, in range: Range<Int>) throws(RingError) -> [UInt8] {
        try FileDescriptor(path(of: name)).bytes(in: range)
    }

    /// Removes a copy. Readers that have opened it can read it to its end.
    package func remove(_ name: String) { unsafe unlink(path(of: name)) }
}
