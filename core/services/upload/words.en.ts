export const en = {
  service_upload: 'Upload'
}
