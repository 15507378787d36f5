/* report.c: how a run went: counted on the way, printed at the end. */
#include "cli/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/method.h"

void cli_report_step(cli_report *r, sn_status status, const sn_info *info) {
  r->steps++;
  r->substeps += info->substeps;
  r->rejected += info->rejected;
  r->evaluations += info->evaluations;
  r->systems += info->solves;
  r->iterations += info->iterations;
  r->gap = fmax(r->gap, info->gap);
  r->iterations_most =
      info->iterations > r->iterations_most ? info->iterations : r->iterations_most;
  r->retries += info->retries;
  r->residual = fmax(r->residual, info->residual);
  r->solves = r->solves || info->residual > 0 || info->iterations > 0;
  r->contacts += info->contacts;
  r->contacts_most = info->contacts > r->contacts_most ? info->contacts : r->contacts_most;
  r->sweeps += info->contact_iterations;
  r->sweeps_most =
      info->contact_iterations > r->sweeps_most ? info->contact_iterations : r->sweeps_most;
  r->rubs += info->friction_iterations;
  r->rubs_most =
      info->friction_iterations > r->rubs_most ? info->friction_iterations : r->rubs_most;
  r->unsettled += info->friction_unsettled > 0;
  r->disagreement = fmax(r->disagreement, info->friction_disagreement);
  r->contact_residual = fmax(r->contact_residual, info->contact_residual);
  r->deepest = fmax(r->deepest, info->deepest);
  r->deepest_end = info->deepest;
  if (status > 0) {
    r->unconverged++;
    r->residual_accepted = fmax(r->residual_accepted, info->residual);
  }
}

void cli_report_energy(cli_report *r, double t, double kinetic, double potential) {
  if (!r->any_energy) {
    r->any_energy = true;
    r->T0 = kinetic;
    r->V0 = potential;
    r->largest_t = t;
  }
  r->T1 = kinetic;
  r->V1 = potential;
  r->T_max = fmax(r->T_max, kinetic);
  r->V_max = fmax(r->V_max, fabs(potential));
  const double change = (kinetic + potential) - (r->T0 + r->V0), off = fabs(change);
  r->rise = fmax(r->rise, change);
  if (off > r->largest) {
    r->largest = off;
    r->largest_t = t;
  }
}

static double real_time_factor(const cli_report *r) {
  return r->wall > 0 ? (r->t_end - r->t_start) / r->wall : 0;
}

/* Where nothing moves, T is rounding, and nothing can be compared with it. */
static bool anything_moves(const cli_report *r) {
  return r->T_max > 1e-14 * r->V_max;
}

static double part(int64_t of, int64_t all) {
  return all > 0 ? (double)of / (double)all : 0;
}

/* Solvers that iterate may have needed, or been allowed, no iteration at all. */
static bool iterates(const cli_report *r, const sn_options *o) {
  const bool structured = strcmp(o->method, "structured") == 0;
  return r->iterations > 0 || (structured && (o->structured.solver == SN_STRUCTURED ||
                                              o->structured.solver == SN_FULL_ITERATIVE));
}

void cli_report_print(const cli_report *r, const cli_plan *plan, FILE *to) {
  fprintf(to, "%s: %s, t = %g to %g in %.3g s (%.3g x real time)\n", r->scene, r->status,
          r->t_start, r->t_end, r->wall, real_time_factor(r));
  fputs("  method      ", to);
  cli_method_print(&plan->run, to);
  fputc('\n', to);
  fprintf(to,
          "  steps       %" PRId64 " of %g, with %" PRId64 " substeps (%" PRId64
          " repeated) and %" PRId64 " evaluations\n",
          r->steps, plan->run.options.step, r->substeps, r->rejected, r->evaluations);
  if (r->chosen[0]) {
    fprintf(to, "  solver      %s\n", r->chosen);
  }
  if (r->systems > 0 && iterates(r, &plan->run.options)) {
    fprintf(to, "  solves      %.3g iterations a step, at most %d; residual at most %.2g\n",
            part(r->iterations, r->steps), r->iterations_most, r->residual);
    fprintf(to, "              %.3g iterations a solve, %.3g solves a step\n",
            part(r->iterations, r->systems), part(r->systems, r->steps));
  } else if (r->solves) {
    fprintf(to, "  solves      direct; residual at most %.2g\n", r->residual);
  }
  if (r->gap > 0) {
    fprintf(to, "  gaps        at most %.2g\n", r->gap);
  }
  if (r->rubs_most > 0) {
    fprintf(to, "  friction    in joints: %.3g iterations a step, at most %d\n",
            (double)r->rubs / (double)r->steps, r->rubs_most);
  }
  if (r->unsettled > 0) {
    fprintf(to,
            "              in %" PRId64
            " step%s loads and friction did not agree: bounds are off by up "
            "to %.2g of what they should be\n",
            r->unsettled, r->unsettled == 1 ? "" : "s", r->disagreement);
  }
  if (r->contacts_most > 0) {
    fprintf(
        to,
        "  contacts    %.3g a step, at most %d; %.3g sweeps, at most %d; residual at most %.2g\n"
        "              at most %.3g deep, %.3g at the end\n",
        (double)r->contacts / (double)r->steps, r->contacts_most,
        (double)r->sweeps / (double)r->steps, r->sweeps_most, r->contact_residual, r->deepest,
        r->deepest_end);
  }
  if (r->retries > 0) {
    fprintf(to, "  retries     %" PRId64 ": steps divided because a solve did not converge\n",
            r->retries);
  }
  if (r->unconverged > 0) {
    fprintf(to, "  unconverged %" PRId64 " step%s accepted with a residual up to %.2g\n",
            r->unconverged, r->unconverged == 1 ? "" : "s", r->residual_accepted);
  }
  fprintf(to,
          "  energy      start E = %.9g (T = %.6g, V = %.6g)\n"
          "              end   E = %.9g (T = %.6g, V = %.6g)\n",
          r->T0 + r->V0, r->T0, r->V0, r->T1 + r->V1, r->T1, r->V1);
  fprintf(to, "              largest change %.3g at t = %g", r->largest, r->largest_t);
  if (anything_moves(r) && isfinite(r->largest / r->T_max)) {
    fprintf(to, ", %.2g of the largest T", r->largest / r->T_max);
  }
  fputc('\n', to);
  if (r->out) {
    fprintf(to, "  recorded    %s: %" PRId64 " %s%s of %d %s%s\n",
            strcmp(r->out, "-") == 0 ? "standard output" : r->out, r->rows,
            r->frames ? "frame" : "row", r->rows == 1 ? "" : "s", r->columns,
            r->frames ? "channel" : "column", r->columns == 1 ? "" : "s");
  }
  if (r->save) {
    fprintf(to, "  saved       %s: the state at t = %g\n", r->save, r->t_end);
  }
}

static void json_energy(sni_json *j, const char *key, double kinetic, double potential) {
  sni_json_open(j, key, "{");
  cli_json_number(j, "T", kinetic);
  cli_json_number(j, "V", potential);
  cli_json_number(j, "E", kinetic + potential);
  sni_json_close(j, "}");
}

void cli_report_json(const cli_report *r, const cli_plan *plan, sni_json *j) {
  cli_method_json(&plan->run, j);
  cli_json_number(j, "t_start", r->t_start);
  cli_json_number(j, "t_end", r->t_end);
  cli_json_number(j, "step", plan->run.options.step);
  sni_json_raw(j, "steps", "%" PRId64, r->steps);
  sni_json_raw(j, "substeps", "%" PRId64, r->substeps);
  sni_json_raw(j, "rejected", "%" PRId64, r->rejected);
  sni_json_raw(j, "evaluations", "%" PRId64, r->evaluations);
  if (r->systems > 0 || r->solves || r->chosen[0]) {
    sni_json_open(j, "solver", "{");
    sni_json_text(j, "chosen", r->chosen);
    sni_json_raw(j, "solves", "%" PRId64, r->systems);
    sni_json_raw(j, "iterations", "%" PRId64, r->iterations);
    sni_json_raw(j, "iterations_most", "%d", r->iterations_most);
    sni_json_raw(j, "retries", "%" PRId64, r->retries);
    cli_json_number(j, "residual", r->residual);
    cli_json_number(j, "gap", r->gap);
    sni_json_raw(j, "unconverged", "%" PRId64, r->unconverged);
    if (r->unconverged > 0) {
      cli_json_number(j, "residual_accepted", r->residual_accepted);
    }
    sni_json_close(j, "}");
  }
  if (r->rubs_most > 0) {
    sni_json_open(j, "friction", "{");
    cli_json_number(j, "iterations", (double)r->rubs / (double)r->steps);
    sni_json_raw(j, "iterations_most", "%d", r->rubs_most);
    sni_json_raw(j, "unsettled", "%" PRId64, r->unsettled);
    cli_json_number(j, "disagreement", r->disagreement);
    sni_json_close(j, "}");
  }
  if (r->contacts_most > 0) {
    sni_json_open(j, "contact", "{");
    cli_json_number(j, "mean", (double)r->contacts / (double)r->steps);
    sni_json_raw(j, "most", "%d", r->contacts_most);
    cli_json_number(j, "sweeps", (double)r->sweeps / (double)r->steps);
    sni_json_raw(j, "sweeps_most", "%d", r->sweeps_most);
    cli_json_number(j, "residual", r->contact_residual);
    cli_json_number(j, "deepest", r->deepest);
    cli_json_number(j, "deepest_end", r->deepest_end);
    sni_json_close(j, "}");
  }
  cli_json_number(j, "wall_seconds", r->wall);
  cli_json_number(j, "cpu_seconds", r->cpu);
  cli_json_number(j, "real_time_factor", real_time_factor(r));
  sni_json_open(j, "energy", "{");
  json_energy(j, "start", r->T0, r->V0);
  json_energy(j, "end", r->T1, r->V1);
  cli_json_number(j, "largest_change", r->largest);
  cli_json_number(j, "largest_change_t", r->largest_t);
  cli_json_number(j, "largest_T", r->T_max);
  sni_json_close(j, "}");
  if (r->out) {
    sni_json_open(j, "recording", "{");
    sni_json_text(j, "file", r->out);
    sni_json_raw(j, "rows", "%" PRId64, r->rows);
    sni_json_raw(j, "columns", "%d", r->columns);
    sni_json_close(j, "}");
  }
  if (r->save) {
    sni_json_text(j, "saved", r->save);
  }
  if (r->bundle) {
    sni_json_text(j, "bundle", r->bundle);
  }
  sni_json_raw(j, "state_hash", "\"%016" PRIx64 "\"", r->hash);
}
