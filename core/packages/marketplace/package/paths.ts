import { normalForm } from '@dispatch/common'
import { MarketplaceRefusal } from '../refusal.ts'

/** Every path of a package made by npm begins with this folder. */
const top = 'package/'

/** Bytes of UTF-8: a path in the folder of an installation stays below the 260 characters of Windows. */
const longest = 150

/** Control characters, invisible ones, those that are not assigned, and those that separate folders, drives or streams on Windows. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\\:*?"<>|\u{FFFD}]/u

/** Windows opens a device for these names, with any ending. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** The path of an entry below the folder of the package. Throws where it is not a plain relative path. */
export function pathInPackage (name: string): string {
  const path = name.slice(top.length)
  const isPlain = name.startsWith(top) && Buffer.byteLength(path) <= longest && !unsafe.test(path) && path.split('/').every(isPlainName)
  if (isPlain) return path
  throw new MarketplaceRefusal('path_unsafe',
    `The path ${JSON.stringify(name.slice(0, 300))} is not safe. It must begin with "${top}", have no "..", no empty part and no ` +
      `reserved name, only visible characters, and at most ${longest} bytes.`)
}

function isPlainName (name: string): boolean {
  return name !== '' && name !== '..' && !/[. ]$/.test(name) && !name.startsWith(' ') && !device.test(name)
}

/** Takes one path after the other, and throws at the first that some system would take for one before it. */
export function createPathRegister (): (path: string) => void {
  const taken = new Map<string, { path: string, isFile: boolean }>()
  return (path) => {
    const parts = path.split('/')
    for (let depth = 1; depth <= parts.length; depth++) {
      const part = parts.slice(0, depth).join('/')
      const isFile = depth === parts.length
      const before = taken.get(folded(part))
      if (before !== undefined && (isFile || before.isFile || before.path !== part)) {
        throw new MarketplaceRefusal('path_collision',
          `The path ${JSON.stringify(path)} collides with ${JSON.stringify(before.path)}. Every path must differ from the others, ` +
            'whatever the case and the Unicode form of its letters.')
      }
      taken.set(folded(part), { path: part, isFile })
    }
  }
}

/** The same text for all names that HFS+, APFS or NTFS may take for one. Upper case first: "ß" is "SS". */
function folded (path: string): string {
  return normalForm(normalForm(path, 'NFKD').toUpperCase().toLowerCase(), 'NFKC')
}
