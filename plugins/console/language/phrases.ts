/** The words of CodeMirror in other languages than English. */
export const phrases = {
  fr: {
    'Find': 'Rechercher',
    'Replace': 'Remplacer',
    'next': 'suivant',
    'previous': 'précédent',
    'all': 'tout',
    'match case': 'respecter la casse',
    'by word': 'mot entier',
    'regexp': 'expression régulière',
    'replace': 'remplacer',
    'replace all': 'tout remplacer',
    'close': 'fermer',
    'current match': 'occurrence actuelle',
    'replaced match on line $': 'occurrence remplacée à la ligne $',
    'replaced $ matches': '$ occurrences remplacées',
    'on line': 'à la ligne',
    'Go to line': 'Aller à la ligne',
    'go': 'aller',
    'Diagnostics': 'Problèmes',
    'No diagnostics': 'Aucun problème',
    'Control character': 'Caractère de contrôle',
    'Selection deleted': 'Sélection supprimée'
  }
} as const
