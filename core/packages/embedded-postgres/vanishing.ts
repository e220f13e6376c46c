import { chownSync, lchownSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemErrorText } from './error.ts'

/**
 * What `use` returns; undefined when the file or process is gone. Other processes that start on the same folder make, rename and remove
 * files in it, and servers end by themselves.
 */
export function unlessGone<Result> (use: () => Result): Result | undefined {
  try {
    return use()
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(systemErrorText(error))) return undefined
    throw error
  }
}

/** An owner of files, as the service sees it. */
export type Owner = { uid: number, gid: number }

/**
 * Gives a folder with all that is in it to an owner, but for the entries of the folder that `stays` names. What vanishes meanwhile needs no
 * owner: who renames a file has given it to the same one.
 */
export function giveTo (owner: Owner, folder: string, stays: (name: string) => boolean = () => false): void {
  chownSync(folder, owner.uid, owner.gid)
  for (const name of namesIn(folder)) if (!stays(name)) giveTree(owner, join(folder, name))
}

function giveTree (owner: Owner, path: string): void {
  const found = unlessGone(() => lstatSync(path))
  if (found === undefined) return
  if (found.uid !== owner.uid) {
    unlessGone(() => {
      lchownSync(path, owner.uid, owner.gid)
    })
  }
  if (found.isDirectory()) { for (const name of namesIn(path)) giveTree(owner, join(path, name)) }
}

const namesIn = (folder: string): string[] => unlessGone(() => readdirSync(folder)) ?? []
