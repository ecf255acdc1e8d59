import Glibc
package import Support

/// Where a transport stream is written.
package enum StreamDestination: Equatable, Sendable {
    case standardOutput
    case file(path: String)

    package init?(argument: String) {
        switch argument {
        case "": return nil
        case "-", "pipe:", "pipe:1", "/dev/stdout": self = .standardOutput
        default: self = .file(path: argument)
        }
    }

    var name: String {
        switch self {
        case .standardOutput: "standard output"
        case .file(let path): path
        }
    }

    /// Throws if the destination can never be written, before anything else is opened: a closed standard output would
    /// otherwise become the next file's descriptor.
    package func check() throws(RelayError) {
        if self == .standardOutput { _ = try descriptor(STDOUT_FILENO, isOwned: false) }
    }

    /// Opens the destination for writing. A file is truncated; opening a FIFO waits for a reader.
    package func open() throws(RelayError) -> StreamDescriptor {
        switch self {
        case .standardOutput: return try descriptor(STDOUT_FILENO, isOwned: false)
        case .file(let path):
            let number = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0o644)
            guard number >= 0 else { throw RelayError(writing: name, code: errno) }
            return try descriptor(number, isOwned: true)
        }
    }

    private func descriptor(_ number: Int32, isOwned: Bool) throws(RelayError) -> StreamDescriptor {
        let descriptor: StreamDescriptor
        do throws(StreamDescriptor.Failure) {
            descriptor = try StreamDescriptor(number, name: name, isOwned: isOwned)
        } catch { throw RelayError(error, writing: name) }
        if descriptor.kind == .terminal {
            throw RelayError(
                .cannotWrite, "\(name) is a terminal, which shows no transport stream",
                advice: "Pipe it to a player or into a file, or give --output a file")
        }
        return descriptor
    }
}

extension RelayError {
    /// An output that cannot be written.
    init(writing name: String, code: Int32) {
        self.init(
            .cannotWrite, "\(name) cannot be written: \(unsafe String(cString: strerror(code)))",
            advice: code == ENOSPC ? "Free space on its disk" : "Give another --output, or correct its permissions")
    }

    init(_ failure: StreamDescriptor.Failure, writing name: String) {
        switch failure {
        case .closed, .canceled:
            self.init(
                .cannotWrite, "\(name) was closed before anything was written",
                advice: "Give the command a reader that stays, or another --output")
        case .system(let code): self.init(writing: name, code: code)
        }
    }
}
