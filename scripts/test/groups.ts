import { isLong, runsAlone } from '../../test/long-tier.ts'

/** So many files share a process: more would save little, and two processes would end far from each other. */
const filesTogether = { short: 20, long: 6 }

/**
 * Neighbours of one tier share a process, one after the other: to load the service takes longer than most of them. What changes its process
 * has one of its own.
 */
export function groupsOf (files: readonly string[]): string[][] {
  const groups: string[][] = []
  for (const file of files) {
    const last = groups.at(-1)
    if (last !== undefined && mayJoin(file, last)) last.push(file)
    else groups.push([file])
  }
  return groups
}

function mayJoin (file: string, [first = '', ...others]: readonly string[]): boolean {
  if (isLong(file) !== isLong(first) || runsAlone(file) || runsAlone(first)) return false
  return others.length + 1 < (isLong(file) ? filesTogether.long : filesTogether.short)
}
