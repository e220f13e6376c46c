export const fr = {
  service_file: 'Fichier',
  field_outputFormat: 'Format',
  field_filename: 'Nom du fichier',
  help_filename: 'Une extension manquante est ajoutée.'
}
