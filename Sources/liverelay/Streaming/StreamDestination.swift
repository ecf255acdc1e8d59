import ArgumentParser
import Glibc

/// Where a transport stream is written.
enum StreamDestination: ExpressibleByArgument, Equatable, Sendable {
    case standardOutput
    case file(path: String)

    init?(argument: String) {
        switch argument {
        case "": return nil
        case "-", "pipe:", "pipe:1", "/dev/stdout": self = .standardOutput
        default: self = .file(path: argument)
        }
    }

    /// The name for messages.
    var name: String {
        switch self {
        case .standardOutput: "standard output"
        case .file(let path): path
        }
    }

    /// Opens the destination for writing. A file is truncated.
    func open() throws(RelayError) -> StreamDescriptor {
        switch self {
        case .standardOutput: return StreamDescriptor(STDOUT_FILENO, name: name, isOwned: false)
        case .file(let path):
            let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw RelayError(writing: name, code: errno) }
            return StreamDescriptor(descriptor, name: name, isOwned: true)
        }
    }
}

extension RelayError {
    /// An output that cannot be written.
    init(writing name: String, code: Int32) {
        self.init(
            .cannotWrite, "\(name) cannot be written: \(unsafe String(cString: strerror(code)))",
            advice: code == ENOSPC ? "Free space on its disk" : "Give another --output, or correct its permissions")
    }
}
