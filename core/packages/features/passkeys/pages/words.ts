import { withWords } from '@dispatch/plugins/console'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'

/** The words of the console with those of passkeys. */
export const wordsOf = withWords({ en, fr })
