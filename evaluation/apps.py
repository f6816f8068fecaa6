"""The evaluation app."""

from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents.models import runs
        from agents.recipe_pages import page as recipes
        from agents.replay import file
        from agents.training import lessons
        from agents.training.prepare import preparing
        from annotations.corpus import judged
        from annotations.corpus.correct import correcting
        from annotations.desk.discuss import mail
        from annotations.jobs import running as jobs
        from annotations.jobs import stopping
        from annotations.releases import keeping
        from annotations.sample import project
        from evaluation import tasks
        from evaluation.explaining import jobs as explaining_jobs
        from evaluation.guard import forecasting
        from evaluation.judges import jobs as judging_jobs
        from evaluation.models import RiskLabel, Shard, Study
        from evaluation.reviews import counting, noting, said_of_texts, telling
        from evaluation.scores.of_recipes import of_recipe
        from evaluation.studies import placing, running, sample
        from evaluation.teaching import collecting

        jobs.RUNNERS.update(forecasting.RUNNERS | judging_jobs.RUNNERS | explaining_jobs.RUNNERS)
        running.shard_task = tasks.run_shard
        stopping.watched = placing.somebody_waits
        counting.count_task = tasks.count_reviews
        recipes.scored = of_recipe
        file.notes_of = noting.NumberedReview.notes_of
        runs.study_of = Study.objects.newest_of
        runs.waits_for = lambda run: Shard.objects.filter(run=run).waits_text()
        lessons.collect = collecting.Teaching.lessons_of
        keeping.KEPT.extend(said_of_texts.KEPT)
        judged.OF_STEPS.append((RiskLabel.objects.all(), "risk labels"))
        mail.SOURCES[telling.REVIEW.kind] = telling.REVIEW
        correcting.on_done.append(counting.wake_on_commit)
        project.EARLY.add(sample.PART)
        project.MAKERS[sample.PART] = sample.make_studies
        project.MAKERS[preparing.PART] = preparing.make_cheap
