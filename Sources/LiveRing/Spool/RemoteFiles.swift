package import Support

/// Files of a ring that are not in its spool.
package protocol RemoteFiles: Sendable {
    /// Returns the path of a copy on this machine, which is made if there is none.
    func path(of file: SpoolFile) async throws(RingError) -> String

    /// The path of a copy; the calling thread waits for it.
    func waitForPath(of file: SpoolFile) throws(RingError) -> String

    /// The bytes of a small range; the calling thread waits for them.
    func waitForBytes(of file: SpoolFile, in range: Range<Int>) throws(RingError) -> [UInt8]

    /// A URL at which a client can have the file itself; nil if it has to come from here.
    func clientURL(of file: SpoolFile) async -> Secret?
}
