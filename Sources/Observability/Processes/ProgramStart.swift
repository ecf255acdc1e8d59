import CSpawn
import Glibc

/// The start of another program, which inherits the given descriptors and no others.
package struct ProgramStart: Sendable {
    package struct Failure: Error, Equatable {
        /// errno.
        package let code: Int32

        package init(code: Int32) { self.code = code }
    }

    /// The program and its arguments. A program without a slash is looked for in PATH.
    let arguments: [String]
    /// `NAME=value`
    let environment: [String]
    /// The descriptors 0, 1, 2 and so on of the program.
    let descriptors: [Int32]
    let hasOwnGroup: Bool
    /// Signals that the program ignores.
    let ignored: [Int32]

    package init(
        arguments: [String], environment: [String], descriptors: [Int32], hasOwnGroup: Bool = false,
        ignoring ignored: [Int32] = []
    ) {
        (self.arguments, self.environment, self.descriptors) = (arguments, environment, descriptors)
        (self.hasOwnGroup, self.ignored) = (hasOwnGroup, ignored)
    }

    /// - Returns: the number of the process.
    package func spawn() throws(Failure) -> Int32 {
        // Above the numbers that the program gets, so that none is replaced before it is copied.
        let sources = descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, Int32(descriptors.count)) }
        defer { for source in sources { close(source) } }
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        for (number, source) in sources.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, source, Int32(number))
        }
        // Closed in the new process, so that sockets accepted meanwhile are included.
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, Int32(descriptors.count))
        configure(&attributes)
        guard let program = arguments.first else { throw Failure(code: ENOENT) }
        var pid = pid_t()
        let code = unsafe Self.withCStrings(arguments) { arguments in
            unsafe Self.withCStrings(environment) { environment in
                unsafe posix_spawnp(&pid, program, &actions, &attributes, arguments, environment)
            }
        }
        guard code == 0 else { throw Failure(code: code) }
        return pid
    }

    /// No blocked signals, and no ignored signals but the given ones; this process ignores SIGPIPE.
    private func configure(_ attributes: inout posix_spawnattr_t) {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        for number in ignored { unsafe sigdelset(&signals, number) }
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        unsafe posix_spawnattr_setflags(&attributes, Int16(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    /// Calls `body` with a list of C strings that ends with a null pointer.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers: [UnsafeMutablePointer<CChar>?] = unsafe []
        for string in strings { unsafe pointers.append(unsafe strdup(string)) }
        unsafe pointers.append(nil)
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        return unsafe body(&pointers)
    }

    /// The variables of this process as `NAME=value`.
    package static var environment: [String] {
        var entries: [String] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            entries.append(unsafe String(cString: entry))
            unsafe next += 1
        }
        return entries
    }
}
