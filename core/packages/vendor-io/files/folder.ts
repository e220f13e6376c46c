import { sep } from 'node:path'

/** Whether a path is inside a folder. Both are real paths. */
export function isInFolder (folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
