#!/usr/bin/env bash
# Makes a video and watches it come, then makes speech and reads it back in five formats.
#
#   WEIR_URL=http://127.0.0.1:8080 WEIR_API_KEY=… docs/guide/media.sh [directory]
#
# Needs curl; ffmpeg, where there is one, shows a frame of the video as a picture.
set -euo pipefail
: "${WEIR_URL:?the address of the gateway, such as http://127.0.0.1:8080}" "${WEIR_API_KEY:?an API key of the gateway}"
directory=${1:-media}
mkdir -p "$directory"

ask() { curl --silent --show-error --fail-with-body --max-time 300 -H "authorization: Bearer $WEIR_API_KEY" "$@"; }
member() { sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" | head -n 1; }

echo 'A video from words, five seconds long:'
video=$(ask "$WEIR_URL/v1/video/generations" -H 'content-type: application/json' \
  -d '{"model":"vendor-imagine-video","prompt":"A river passes a weir","duration":5,"metadata":{"resolution":"480p","aspect_ratio":"16:9"}}' | member id)
echo "  it is $video"

# One line for each change; the stream ends with the video.
ask --no-buffer "$WEIR_URL/v1/videos/$video/events" | sed -n 's/^event: /  /p'

ask "$WEIR_URL/v1/videos/$video" > "$directory/video.json"
ask "$WEIR_URL/v1/videos/$video/content" -o "$directory/video.mp4"
echo "  downloaded $(wc -c < "$directory/video.mp4") bytes"
if command -v ffmpeg > /dev/null; then
  ffmpeg -v error -y -ss 2 -i "$directory/video.mp4" -frames:v 1 "$directory/frame.png"
  echo "  a frame of it is $directory/frame.png"
fi

echo 'Speech:'
ask "$WEIR_URL/v1/audio/speech" -H 'content-type: application/json' \
  -d '{"model":"tts-1","voice":"alloy","input":"The beach was a popular spot. People were swimming and playing volleyball."}' -o "$directory/speech.mp3"
echo "  $(wc -c < "$directory/speech.mp3") bytes"

echo 'and read back:'
for format in json text srt vtt verbose_json; do
  ask "$WEIR_URL/v1/audio/transcriptions" -F file=@"$directory/speech.mp3" -F model=whisper-1 -F response_format=$format > "$directory/speech.$format"
  echo "--- $format"
  cat "$directory/speech.$format"
  echo
done
