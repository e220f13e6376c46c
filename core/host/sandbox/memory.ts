import { readFileSync } from 'node:fs'

/** Bytes of a page of memory, on every platform with /proc that the service runs on. */
const page = 4096

/** Bytes of memory that a process and its descendants hold; 0 where that cannot be seen, as on systems without /proc. */
export function residentMemory (pid: number | undefined): number {
  if (pid === undefined) return 0
  const [, pages = '0'] = read(`/proc/${pid}/statm`).split(' ')
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter((text) => /^\d+$/.test(text)).map(Number)
  return children.reduce((sum, child) => sum + residentMemory(child), Number(pages) * page)
}

function read (path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // It has ended, or there is no /proc.
    return ''
  }
}
