import { spawnSync } from 'node:child_process'

/**
 * The files of the checkout at `root` that differ from where its branch left `base` (a commit or a branch), those that are not committed
 * too. Undefined if that cannot be told, or if nothing differs: there is nothing to choose by.
 */
export function changedSince (base: string, root: string): string[] | undefined {
  const git = (...args: string[]): string[] | undefined => {
    const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
    return status === 0 ? stdout.split('\0').filter((line) => line !== '') : undefined
  }
  const [left] = git('merge-base', base, 'HEAD') ?? []
  if (left === undefined) return undefined
  const differing = git('diff', '--name-only', '--no-renames', '-z', left.trim())
  const added = git('ls-files', '--others', '--exclude-standard', '-z')
  if (differing === undefined || added === undefined) return undefined
  const changed = [...differing, ...added]
  return changed.length === 0 ? undefined : changed
}
