import { MarketplaceRefusal } from '../refusal.ts'
import { isGzip } from './tarball.ts'

/** The endings of code that is compiled for one system, and of archives. */
const native = /\.(?:node|so|dll|dylib|exe|a|o)$/i
const archive = /\.(?:tgz|tar|gz|bz2|xz|zst|br|zip|7z|rar|asar)$/i

/** The first bytes of ELF, Mach-O (of either byte order, and universal) and PE files, in hexadecimal. */
const nativeStarts = /^(?:7f454c46|feedfac[ef]|c[ef]faedfe|cafebabe|4d5a9000)/
/** Those of ZIP, XZ, Zstandard, 7-Zip and bzip2. */
const archiveStarts = /^(?:504b0304|fd377a58|28b52ffd|377abcaf|425a68)/

/** Throws a {@link MarketplaceRefusal} for a file that has no place in a package, whatever its name says. */
export function checkContent (path: string, content: Buffer): void {
  const start = content.subarray(0, 4).toString('hex')
  const named = JSON.stringify(path)
  if (path.toLowerCase().split('/').includes('node_modules')) {
    throw new MarketplaceRefusal('dependencies', `The file ${named} belongs to another package. Bundle all code into index.js.`)
  }
  if (/(?:^|\/)binding\.gyp$/i.test(path)) {
    throw new MarketplaceRefusal('install_scripts', `The file ${named} has npm compile the package. Leave it out.`)
  }
  if (native.test(path) || nativeStarts.test(start)) {
    throw new MarketplaceRefusal('native_code', `The file ${named} is compiled for one system. An adapter is JavaScript alone.`)
  }
  if (archive.test(path) || archiveStarts.test(start) || isGzip(content) || isTar(content)) {
    throw new MarketplaceRefusal('nested_archive', `The file ${named} is an archive. Put its files into the package, if they are needed.`)
  }
}

/** The magic of a header of tar, at its place in the first block. */
function isTar (content: Buffer): boolean {
  return content.subarray(257, 262).toString('latin1') === 'ustar'
}
