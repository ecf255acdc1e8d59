import Glibc
import Soak

exit(await SoakCommand.run(Array(CommandLine.arguments.dropFirst())))
