import type { Writable } from 'node:stream'

/** Where people read what goes on; `isTTY`: somebody may be looking. */
export type Terminal = Writable & { isTTY?: boolean }

const width = 30

/** A bar for long work, on one line that goes away with it. Where nobody looks, nothing is written. */
export function openBar (terminal: Terminal): Disposable & { show: (what: string, done: number, total: number) => void } {
  let last = ''
  const write = (line: string): void => {
    if (terminal.isTTY !== true || line === last) return
    terminal.write(`\r${line.padEnd(last.length)}`)
    last = line
  }
  return {
    show: (what, done, total) => {
      const share = total === 0 ? 0 : done / total
      const full = Math.floor(share * width)
      write(`${'█'.repeat(full)}${'░'.repeat(width - full)} ${String(Math.floor(share * 100)).padStart(3)} % ${what}`)
    },
    [Symbol.dispose]: () => {
      if (last !== '') terminal.write(`\r${' '.repeat(last.length)}\r`)
    }
  }
}
