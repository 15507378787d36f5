# Draws a recording as an animated picture (SVG) that every browser shows:
#
#     awk -v lines='#d33 2 arm,hand,finger_*' -v trails='#d33 hand' -f scripts/draw.awk motion.csv > motion.svg
#
# The recording has the columns NAME.pos.x, NAME.pos.y, NAME.pos.z of the bodies.  Lines go through the origins of
# bodies, NAME_* stands for NAME_1, NAME_2, ...; several lines or trails are separated by `;`.  The eye looks along a
# direction given by two angles in degrees: azimuth (about z) and elevation (above the ground).
#
#     lines    COLOUR WIDTH NAME,NAME,...     moves
#     trails   COLOUR NAME                    the path of a body, all of it
#     dots     COLOUR RADIUS NAME             a circle that moves
BEGIN {
  FS = ","
  if (azimuth == "") azimuth = 60
  if (elevation == "") elevation = 12
  if (title == "") title = "motion"
  turn = atan2(0, -1) / 180
  ca = cos(azimuth * turn); sa = sin(azimuth * turn)
  ce = cos(elevation * turn); se = sin(elevation * turn)
  frames = 0
}

NR == 1 {
  for (k = 1; k <= NF; k++) column[$k] = k
  if (!("t" in column)) { print "draw.awk: no column t" > "/dev/stderr"; failed = 1; exit 2 }
  next
}

# All numbers of interest are kept; the picture's scale is known only at the end.
{
  time[frames] = $column["t"]
  for (name in column) {
    if (name !~ /\.pos\.x$/) continue
    body = substr(name, 1, length(name) - 6)
    x = $column[name]; y = $column[body ".pos.y"]; z = $column[body ".pos.z"]
    u[body, frames] = ca * y - sa * x
    v[body, frames] = -(ce * z - se * (ca * x + sa * y))
  }
  frames++
}

function fail(text) {
  print "draw.awk: " text > "/dev/stderr"
  failed = 1
  exit 2
}

# The bodies of a comma list into list[1..n].
function expand(text, list,    part, k, n, count, i, base) {
  n = 0
  count = split(text, part, ",")
  for (k = 1; k <= count; k++) {
    if (part[k] ~ /\*$/) {
      base = substr(part[k], 1, length(part[k]) - 1)
      for (i = 1; (base i ".pos.x") in column; i++) list[++n] = base i
      if (i == 1) fail("no bodies " part[k])
    } else {
      if (!((part[k] ".pos.x") in column)) fail("no column " part[k] ".pos.x")
      list[++n] = part[k]
    }
  }
  return n
}

function see(body, f) {
  if (!seen || u[body, f] < u_min) u_min = u[body, f]
  if (!seen || u[body, f] > u_max) u_max = u[body, f]
  if (!seen || v[body, f] < v_min) v_min = v[body, f]
  if (!seen || v[body, f] > v_max) v_max = v[body, f]
  seen = 1
}

function place(body, f) {
  return sprintf("%.0f,%.0f", (u[body, f] - u_min) * scale + margin, (v[body, f] - v_min) * scale + margin)
}

function points(list, n, f,    k, text) {
  text = place(list[1], f)
  for (k = 2; k <= n; k++) text = text " " place(list[k], f)
  return text
}

# The start of an animation; its values and "/> follow.
function animate(attribute) {
  printf "<animate attributeName=\"%s\" dur=\"%gs\" repeatCount=\"indefinite\" values=\"", attribute, seconds
}

END {
  if (failed) exit 2
  if (frames < 2) fail("needs at least two rows")
  margin = 30; width = 900
  nline = split(lines, line, ";"); ntrail = split(trails, trail, ";"); ndot = split(dots, dot, ";")

  # the size of everything that will be drawn
  for (k = 1; k <= nline; k++) {
    split(line[k], word, " ")
    n = expand(word[3], list)
    for (i = 1; i <= n; i++) for (f = 0; f < frames; f++) see(list[i], f)
  }
  scale = (width - 2 * margin) / (u_max - u_min)
  height = (v_max - v_min) * scale + 2 * margin
  seconds = time[frames - 1] - time[0]

  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\">\n", width, height
  printf "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#10141c\"/>\n", title
  print "<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">"
  for (k = 1; k <= ntrail; k++) {
    split(trail[k], word, " ")
    expand(word[2], list)
    printf "<polyline stroke=\"%s\" stroke-width=\"1\" opacity=\"0.35\" points=\"", word[1]
    for (f = 0; f < frames; f++) printf "%s%s", f ? " " : "", place(list[1], f)
    print "\"/>"
  }
  for (k = 1; k <= nline; k++) {
    split(line[k], word, " ")
    n = expand(word[3], list)
    printf "<polyline stroke=\"%s\" stroke-width=\"%s\" points=\"%s\">\n", word[1], word[2], points(list, n, 0)
    animate("points")
    for (f = 0; f < frames; f++) printf "%s%s", f ? ";" : "", points(list, n, f)
    print "\"/></polyline>"
  }
  for (k = 1; k <= ndot; k++) {
    split(dot[k], word, " ")
    expand(word[3], list)
    split(place(list[1], 0), xy, ",")
    printf "<circle fill=\"%s\" r=\"%s\" cx=\"%s\" cy=\"%s\">\n", word[1], word[2], xy[1], xy[2]
    for (c = 1; c <= 2; c++) {
      animate(c == 1 ? "cx" : "cy")
      for (f = 0; f < frames; f++) { split(place(list[1], f), xy, ","); printf "%s%s", f ? ";" : "", xy[c] }
      print "\"/>"
    }
    print "</circle>"
  }
  print "</g>\n</svg>"
}
