import { isLong } from '../../test/long-tier.ts'

/** So many files share a process: more would save little, and two processes would end far from each other. */
export const filesTogether = 12

/** Neighbours share a process. Those of the second tier wait more than they load, and have one each. */
export function groupsOf (files: readonly string[]): string[][] {
  const groups: string[][] = []
  for (const file of files) {
    const last = groups.at(-1)
    if (last === undefined || last.length === filesTogether || isLong(file) || last.some(isLong)) groups.push([file])
    else last.push(file)
  }
  return groups
}
