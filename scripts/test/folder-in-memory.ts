import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'

/** The folders of runs, with the number of their process. */
const prefix = 'dispatch-tests-'

/** Milliseconds that no run takes. */
const longestRun = 2 * 3600 * 1000

/** So many bytes are free in memory. A whole run has used at most an eighth of them at a time. */
const needed = 8 * 1024 ** 3

/**
 * Makes a folder for the temporary files of a run, in memory. Each file of tests makes and removes databases of 900 files: on a disk, that
 * takes a third of its processor time. Undefined where the system has no such place, or too little room in it.
 */
export function openFolderInMemory (): { path: string, close: () => void } | undefined {
  if (!isFit()) return undefined
  removeAbandoned()
  const path = mkdtempSync(join(memory, `${prefix}${String(process.pid)}-`))
  // As /tmp is: the database and the processes of providers belong to other users.
  chmodSync(path, 0o1777)
  return {
    path,
    close: () => {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

function isFit (): boolean {
  const place = existsSync('/proc/self/mounts') ? mountOf(readFileSync('/proc/self/mounts', 'utf8')) : undefined
  if (place?.type !== 'tmpfs' || place.options.includes('noexec') || place.options.includes('ro')) return false
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, process.availableMemory()) >= needed
}

function mountOf (mounts: string): { type: string | undefined, options: readonly string[] } | undefined {
  const [, , type, options = ''] = mounts.split('\n').map((line) => line.split(' ')).findLast(([, folder]) => folder === memory) ?? []
  return { type, options: options.split(',') }
}

/** What killed runs of this user have left would stay in memory. A run of another container may have the number of no process here. */
function removeAbandoned (): void {
  for (const name of readdirSync(memory).filter((name) => name.startsWith(prefix))) {
    const path = join(memory, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    const isRunning = existsSync(`/proc/${name.slice(prefix.length).split('-')[0] ?? ''}`)
    if (found === undefined || found.uid !== process.getuid?.() || isRunning || Date.now() - found.mtimeMs < longestRun) continue
    rmSync(path, { recursive: true, force: true })
  }
}
